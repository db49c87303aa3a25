"""The AsyncAPI documents: current, whole, and true of the messages."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from odf_core.chain import InvalidInterval
from odf_core.errors import InternalError
from odf_core.transfer import DEPLOYED, DIALECTS, PUBLISHED, TextMessage, messages
from odf_core.transfer.asyncapi import document, to_yaml
from odf_core.transfer.codes import PEER_CODES
from odf_core.transfer.errors import HeadMoved, NameCollision, RefCollision, SeedOverwriteRestricted
from odf_core.transfer.messages import Party
from tests.transfer_core import test_deployed_messages as deployed
from tests.transfer_core import test_malformed_messages as malformed
from tests.transfer_core import test_published_messages as published
from tests.transfer_core.values import DATASET, HEAD, TAIL

FOLDER = Path(__file__).resolve().parents[2] / "asyncapi"
SAMPLES = {DEPLOYED: deployed.EXACT, PUBLISHED: published.EXACT}
EACH_DIALECT = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)


def validator(dialect, message: str) -> jsonschema.Draft202012Validator:
    root = document(dialect)
    schema = {**root["components"]["messages"][message]["payload"], "components": root["components"]}
    return jsonschema.Draft202012Validator(schema)


@EACH_DIALECT
def test_the_checked_in_document_is_current(dialect):
    assert (FOLDER / f"{dialect.name}.yaml").read_text(encoding="utf-8") == to_yaml(dialect)


def test_the_command_writes_the_document():
    command = [sys.executable, "-m", "odf_core.transfer.asyncapi"]
    done = subprocess.run(
        [*command, "published"], capture_output=True, check=False, cwd=FOLDER.parent, encoding="utf-8"
    )
    assert (done.returncode, done.stdout) == (0, to_yaml(PUBLISHED))
    wrong = subprocess.run([*command, "spoken"], capture_output=True, check=False, cwd=FOLDER.parent)
    assert wrong.returncode == 2


@EACH_DIALECT
def test_yaml_and_json_say_the_same(dialect):
    assert yaml.safe_load(to_yaml(dialect)) == json.loads(json.dumps(document(dialect)))


@EACH_DIALECT
def test_every_reference_leads_somewhere(dialect):
    root = document(dialect)

    def references(value):
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            for item in value.values():
                yield from references(item)
        elif isinstance(value, list):
            for item in value:
                yield from references(item)

    for reference in references(root):
        place = root
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
    for schema in root["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


@EACH_DIALECT
def test_every_message_is_described_in_the_direction_it_goes(dialect):
    root = document(dialect)
    for message in dialect.codecs:
        operation = root["operations"][message.name]
        assert operation["action"] == ("receive" if message.sender is Party.CLIENT else "send")
        assert message.name in root["components"]["messages"]
    assert len(root["operations"]) == len(dialect.codecs)


@EACH_DIALECT
def test_messages_to_the_byte_hold_to_their_schemas(dialect):
    for message, _, text in SAMPLES[dialect].values():
        validator(dialect, message.name).validate(json.loads(text))


@EACH_DIALECT
def test_examples_hold_to_their_schemas(dialect):
    for name, message in document(dialect)["components"]["messages"].items():
        for example in message.get("examples", []):
            validator(dialect, name).validate(example["payload"])


def test_what_is_read_leniently_holds_to_the_schema_or_is_an_alias():
    for name, (message, text, _) in deployed.READ_TOO.items():
        if name != "visibility in lower case":
            validator(DEPLOYED, message.name).validate(json.loads(text))


@pytest.mark.parametrize("name", malformed.DEPLOYED_REFUSED)
def test_what_the_schema_refuses_is_refused(name):
    message, old, new, _ = malformed.DEPLOYED_REFUSED[name]
    texts = [text for sample, _, text in deployed.EXACT.values() if sample is message and old in text]
    stricter_than_a_schema = (
        "hash",
        "URL",
        "header",
        "expiry",
        "number as fraction",
        "huge number",
        "upload without",
    )
    if not name.startswith(stricter_than_a_schema):
        assert not validator(DEPLOYED, message.name).is_valid(json.loads(texts[0].replace(old, new)))


@EACH_DIALECT
def test_every_code_is_listed_once_and_under_its_family(dialect):
    codes = document(dialect)["components"]["schemas"]["ErrorCode"]
    assert codes["enum"] == sorted(PEER_CODES)
    listed = {code: family for family, entry in codes["x-families"].items() for code in entry["codes"]}
    assert listed == dict(PEER_CODES)
    assert all(entry["description"] for entry in codes["x-families"].values())


ERRORS = {
    "interval": (InvalidInterval(HEAD, TAIL), messages.PULL_RESPONSE),
    "head": (HeadMoved(None, HEAD), messages.PUSH_RESPONSE),
    "head at commit": (HeadMoved(None, HEAD), messages.PUSH_CONFIRMED),
    "seed": (SeedOverwriteRestricted(), messages.PUSH_METADATA_RESPONSE),
    "id": (RefCollision(DATASET), messages.PUSH_OBJECTS_RESPONSE),
    "name": (NameCollision("alice/foo"), messages.PUSH_OBJECTS_RESPONSE),
    "fault": (InternalError("The node failed."), messages.PUSH_PROGRESS_REQUEST),
}


@EACH_DIALECT
@pytest.mark.parametrize(("error", "awaiting"), ERRORS.values(), ids=ERRORS.keys())
def test_errors_hold_to_their_schema(dialect, error, awaiting):
    for outgoing in dialect.encode_error(error, awaiting):
        text = outgoing.to_text() if isinstance(outgoing, TextMessage) else outgoing.reason
        validator(dialect, "error").validate(json.loads(text))


@EACH_DIALECT
def test_nothing_of_our_own_notes_is_in_the_document(dialect):
    assert ".md" not in to_yaml(dialect)
