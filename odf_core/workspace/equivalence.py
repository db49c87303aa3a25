"""Records that a version of an engine gives what others gave, beside the datasets for which it was shown.

The chain has no event for them (specification, "Engine Deprecation"): they are signed statements in
`.odf/attestations/<dataset id>/`, and count where a trusted key has signed them.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from odf_core.identity import DatasetId
from odf_core.identity.did import KeyDid
from odf_core.limits import MiB
from odf_core.metadata import TransformSql
from odf_core.transfer.client.durable import write_atomically
from odf_core.transform.errors import EngineNotInstalled
from odf_core.transform.port import TransformEngine
from odf_core.verify.attestation import AttestationInvalid, verify_attestation
from odf_core.verify.dsse import EnvelopeInvalid
from odf_core.workspace.signing import trusted_keys

EQUIVALENCE = "urn:odf:attestation:engine-equivalence:v1"
AS_DEPLOYED = "deployed"
"""Stands for the version of a query that names none."""

_FOLDER = "attestations"
_MOST_BYTES = 16 * MiB


def equivalence_predicate(
    engine: str, versions: Sequence[str | None], equivalent: str, replayed: Mapping[str, Any], at: str
) -> dict[str, Any]:
    """What is stated: `equivalent` gave in a replay what `versions` had given."""
    return {
        "engine": engine,
        "versions": sorted(version or AS_DEPLOYED for version in versions),
        "equivalentVersion": equivalent,
        "verifiedAt": at,
        "replay": dict(replayed),
    }


def keep_attestation(root: Path, dataset_id: DatasetId, envelope: Mapping[str, Any]) -> Path:
    """Writes the statement into the workspace `root`; its file is named by its contents."""
    folder = _folder(root, dataset_id)
    folder.mkdir(parents=True, exist_ok=True)
    content = json.dumps(envelope, sort_keys=True, indent=1).encode()
    path = folder / f"{hashlib.sha3_256(content).hexdigest()[:32]}.json"
    write_atomically(path, content, durable=True)
    return path


def equivalent_versions(
    root: Path, dataset_id: DatasetId, transform: TransformSql, trusted: Collection[KeyDid]
) -> list[str]:
    """The versions of which a trusted key states that they give what the transform's version gives.

    Statements of others, and what is none, are passed over.
    """
    wanted = transform.version or AS_DEPLOYED
    return sorted(
        str(said["equivalentVersion"])
        for said in _statements(_folder(root, dataset_id), dataset_id, trusted)
        if said.get("engine") == transform.engine.lower()
        and wanted in said.get("versions", ())
        and isinstance(said.get("equivalentVersion"), str)
    )


def choose_equivalent(
    choose: Callable[[TransformSql], TransformEngine],
    root: Path,
    dataset_id: DatasetId,
    trusted: Collection[KeyDid] | None = None,
) -> Callable[[TransformSql], TransformEngine]:
    """As `choose`, and for a version that is not here one that is and was shown to be equivalent, by a
    statement of `trusted` (default: the person's own key)."""

    def chosen(transform: TransformSql) -> TransformEngine:
        try:
            return choose(transform)
        except EngineNotInstalled:
            if not _folder(root, dataset_id).is_dir():
                raise
            keys = trusted_keys() if trusted is None else trusted
            for version in equivalent_versions(root, dataset_id, transform, keys):
                try:
                    return choose(replace(transform, version=version))
                except EngineNotInstalled:  # nor is this one here
                    continue
            raise

    return chosen


def _folder(root: Path, dataset_id: DatasetId) -> Path:
    return root / _FOLDER / dataset_id.multibase


def _statements(
    folder: Path, dataset_id: DatasetId, trusted: Collection[KeyDid]
) -> Iterator[Mapping[str, Any]]:
    for path in sorted(folder.glob("*.json")):
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES)
        try:
            said = verify_attestation(json.loads(text), trusted, dataset_id=dataset_id)
        except (ValueError, AttributeError, EnvelopeInvalid, AttestationInvalid):
            continue
        if said.predicate_type == EQUIVALENCE:
            yield said.predicate
