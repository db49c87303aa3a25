"""The promised table of codes against the leaves in the code."""

import importlib
import pkgutil

import app
import odf_core
from odf_core.errors import OdfError
from odf_core.transfer.codes import PEER_CODES
from odf_core.transfer.dialects.peer_errors import FAMILIES

PACKAGES = ("identity", "metadata", "chain", "data", "storage", "transfer")

# Leaves of those packages that no peer of a session sees, and why.
LOCAL = {
    "block_refused": "what several leaves share",
    "invalid_reference": "of a command line",
    "invalid_manifest": "of YAML and JSON that people write",
    "event_refused": "of YAML and JSON that people write",
    "invalid_snapshot": "of YAML and JSON that people write",
    "manifest_too_large": "of YAML and JSON that people write",
    "value_not_encodable": "of a writer of blocks",
    "invalid_ddl_schema": "of YAML and JSON that people write",
    "invalid_slice_input": "of a writer of slices",
    "unsupported_record_type": "of output for people and programs",
    "records_too_large": "of output for people and programs",
    "state_too_large": "of a projection of records",
    "changelog_column_missing": "of a projection of records",
    "as_of_not_found": "of queries",
    "as_of_invalid": "of queries",
    "invalid_object_key": "of a misconfigured or wrong program",
    "invalid_object_range": "of an HTTP request",
    "invalid_store_url": "of settings",
    "invalid_url_lifetime": "of settings",
    "connection_lost": "of the client's own side",
    "dialect_limitation": "of the client's own side",
    "peer_failure": "of the client's own side",
    "push_outcome_unknown": "of the client's own side",
    "strategies_mismatch": "of the client's own side",
}


def leaves() -> dict[str, type[OdfError]]:
    for package in (odf_core, app):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    return {cls.code: cls for cls in _descendants(OdfError) if "code" in vars(cls)}


def _descendants(cls):
    for child in cls.__subclasses__():
        if child.__module__.split(".")[0] in ("odf_core", "app"):
            yield child
            yield from _descendants(child)


def test_every_promised_code_is_that_of_an_error_of_this_family():
    found = leaves()
    assert {code: family for code, family in PEER_CODES.items() if code not in found} == {}
    assert {code: found[code].family for code in PEER_CODES} == dict(PEER_CODES)


def test_every_leaf_that_can_reach_a_peer_is_promised():
    of_core = {
        code
        for code, cls in leaves().items()
        if cls.__module__.startswith(tuple(f"odf_core.{package}." for package in PACKAGES))
        and not cls.__module__.startswith("odf_core.transfer.client")
    }
    assert of_core - PEER_CODES.keys() - LOCAL.keys() == set()
    assert LOCAL.keys() & PEER_CODES.keys() == set()


def test_the_families_themselves_are_codes():
    assert {family.code for family in FAMILIES.values()} <= PEER_CODES.keys()


def test_codes_leave_room_in_a_close_frame():
    # The longest phase leaves 41 bytes of message; a colon, a space and an ellipsis want five.
    assert max(map(len, PEER_CODES)) <= 36
