"""`odf block`, `odf hash`, `odf chain check`."""

import hashlib
import json
from pathlib import Path

import pytest

from odf_core.metadata import block_to_json, make_block
from tests.builders.chain_builder import chain
from tests.cli.conftest import Odf
from tests.client.fake_node import FakePeer, Reply
from tests.client.local import sample, write
from tests.vectors import require_vectors


@pytest.fixture
def block_file(tmp_path: Path) -> Path:
    path = tmp_path / "block"
    path.write_bytes(sample().blocks[3].data)
    return path


def test_decode_and_encode_are_inverse(odf: Odf, block_file: Path, tmp_path: Path) -> None:
    for form in ("yaml", "json"):
        manifest = tmp_path / f"manifest.{form}"
        manifest.write_bytes(odf("block", "decode", block_file, "-o", form).out)
        assert odf("block", "encode", manifest).out == block_file.read_bytes()


def test_decoded_json_is_kind_version_content(odf: Odf, block_file: Path) -> None:
    decoded = odf("block", "decode", block_file, "-o", "json").json
    assert list(decoded) == ["kind", "version", "content"]
    assert decoded == block_to_json(sample().blocks[3])
    assert decoded["content"]["event"]["kind"] == "AddData"


def test_encode_takes_the_content_alone_and_a_version(odf: Odf, block_file: Path, tmp_path: Path) -> None:
    decoded = odf("block", "decode", block_file, "-o", "json").json
    (tmp_path / "content.json").write_text(json.dumps(decoded["content"]))
    block = sample().blocks[3].block
    for version in (2, 3):
        encoded = odf("block", "encode", tmp_path / "content.json", "--manifest-version", version)
        assert encoded.out == make_block(block, version).data
        (tmp_path / "block2").write_bytes(encoded.out)
        assert odf("block", "decode", tmp_path / "block2", "-o", "json").json["version"] == version


def test_hashes(odf: Odf, block_file: Path) -> None:
    assert odf("block", "hash", block_file).text == f"{sample().blocks[3].hash}\n"
    digest = hashlib.sha3_256(block_file.read_bytes()).hexdigest()
    assert odf("hash", "physical", block_file).text == f"f1620{digest}\n"
    assert odf("hash", "physical", block_file, "-o", "json").json == {"physicalHash": f"f1620{digest}"}


def test_every_golden_case(odf: Odf, tmp_path: Path) -> None:
    cases = json.loads(require_vectors("metadata/cases.json").read_text())["cases"]
    for case in cases:
        manifest = {"kind": "MetadataBlock", "version": case["manifestVersion"], "content": case["block"]}
        (tmp_path / "manifest").write_text(json.dumps(manifest))
        (tmp_path / "block").write_bytes(bytes.fromhex(case["bytesHex"]))
        assert odf("block", "hash", tmp_path / "block").text.strip() == case["blockHash"], case["id"]
        if "legacy layout" in case["fbsSchema"]:
            assert odf("block", "decode", tmp_path / "block", "-o", "json").error["code"] == "legacy_block"
            continue
        assert odf("block", "decode", tmp_path / "block", "-o", "json").json == manifest, case["id"]
        assert odf("block", "encode", tmp_path / "manifest").out.hex() == case["bytesHex"], case["id"]


def test_logical_hash_of_the_golden_slice(odf: Odf) -> None:
    slice_file = next((require_vectors("datasets/city-population") / "data").iterdir())
    ran = odf("hash", "logical", slice_file)
    assert ran.text == "f9680c00120440446fcdeef120c68757288af2391e174a83831812756c56b7298be251608d5\n"


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"", "malformed_block"), (b"\x00" * 100, "malformed_block"), (b"{}", "malformed_block")],
)
def test_what_is_no_block(odf: Odf, tmp_path: Path, content: bytes, code: str) -> None:
    (tmp_path / "x").write_bytes(content)
    for command in ("decode", "hash"):
        ran = odf("block", command, tmp_path / "x", "-o", "json")
        assert (ran.code, ran.error["code"], ran.out) == (3, code, b"")


def test_what_is_no_manifest(odf: Odf, tmp_path: Path) -> None:
    for content in ("", "- a\n- b", "kind: DatasetSnapshot\nversion: 1\ncontent: {}", "{", "event: 1"):
        (tmp_path / "m").write_text(content)
        ran = odf("block", "encode", tmp_path / "m")
        assert (ran.code, ran.out) == (3, b""), content
        assert ran.err.startswith("error: ")


def test_files_that_cannot_be_read(odf: Odf, tmp_path: Path) -> None:
    for command in (("block", "decode"), ("block", "encode"), ("hash", "physical"), ("hash", "logical")):
        ran = odf(*command, tmp_path / "missing")
        assert ran.code == 3
        assert "No such file" in ran.err


def test_chain_check_of_a_folder_and_a_url(odf: Odf, tmp_path: Path) -> None:
    write(sample(), tmp_path / "ds")
    with FakePeer() as server:
        for name, content in sample().files().items():
            server.on("ds/" + name, Reply(200, content))
        for place in (tmp_path / "ds", f"file://{tmp_path}/ds", server.url + "ds"):
            ran = odf("chain", "check", place, "-o", "json")
            assert ran.code == 0
            assert ran.json == {
                "valid": True,
                "head": str(sample().head),
                "numBlocks": 6,
                "datasetId": str(sample().dataset_id),
                "kind": "Root",
                "problem": None,
            }
    assert odf("chain", "check", tmp_path / "ds").text.startswith("Valid: 6 blocks of did:odf:")


def test_chain_check_names_what_is_wrong(odf: Odf, tmp_path: Path) -> None:
    twice = chain("foo").seed().schema().add_data(10)
    twice.event(twice.blocks[2].block.event)
    folder = write(twice, tmp_path / "rules")
    ran = odf("chain", "check", tmp_path / "rules", "-o", "json")
    assert ran.code == 8
    assert (ran.json["valid"], ran.json["numBlocks"]) == (False, 3)
    assert ran.json["problem"]["code"] == ran.error["code"] == "invalid_event"

    folder = write(sample(), tmp_path / "bytes")
    damaged = folder.block_path(sample().blocks[2].hash)
    damaged.write_bytes(sample().blocks[1].data)
    assert odf("chain", "check", tmp_path / "bytes").code == 7
    damaged.unlink()
    ran = odf("chain", "check", tmp_path / "bytes")
    assert ran.code == 7
    assert str(sample().blocks[2].hash) in ran.err
    assert odf("chain", "check", tmp_path / "nowhere").code == 4
