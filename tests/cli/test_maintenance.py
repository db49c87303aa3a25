"""`odf rename`, `delete`, `reset`, `set-watermark` and `compact`."""

from pathlib import Path

import pytest

from odf_core.identity import DatasetAlias
from odf_core.metadata import DatasetKind, Timestamp, read_snapshots
from odf_core.workspace import Workspace
from odf_core.workspace.adding import add_snapshots
from odf_core.workspace.templates import template
from tests.builders.dataset_builder import DatasetBuilder, root_dataset
from tests.cli.conftest import Odf


@pytest.fixture
def foo(odf: Odf, tmp_path: Path) -> DatasetBuilder:
    """A dataset `foo` that is nobody's copy, and a derivative `bar` that has read nothing yet."""
    builder = root_dataset("foo").add(5)
    odf("init")
    assert odf("pull", f"file://{builder.write(tmp_path / 'there')}", "--as", "foo", "--no-alias").code == 0
    text = template(DatasetAlias.parse("bar"), DatasetKind.DERIVATIVE).replace("name-of-an-input", "foo")
    add_snapshots(Workspace.find(), read_snapshots(text, "bar.yaml"), Timestamp.now())  # no engine is asked
    return builder


def names(odf: Odf) -> list[str]:
    return [item["name"] for item in odf("list", "-o", "json").json]


def test_renaming(odf: Odf, foo: DatasetBuilder) -> None:
    assert odf("rename", "foo", "baz").text == "Renamed foo to baz\n"
    assert names(odf) == ["bar", "baz"]
    refused = odf("rename", "baz", "bar", "-o", "json")
    assert (refused.code, refused.error["code"]) == (6, "local_dataset_exists")
    assert odf("rename", "baz", "not_a_name").code == 3
    assert odf("rename", "nobody", "x").code == 4


def test_deleting_several(odf: Odf, foo: DatasetBuilder) -> None:
    refused = odf("delete", "foo", "--yes", "-o", "json")
    assert (refused.code, refused.error["code"]) == (6, "dataset_in_use")
    assert "bar read foo" in refused.error["message"]
    assert names(odf) == ["bar", "foo"]
    assert odf("delete", "foo", "nobody", "--yes").code == 4
    assert odf("delete", "foo", "bar", "foo", "--yes").text == "Deleted foo\nDeleted bar\n"
    assert names(odf) == []


def test_deleting_by_force(odf: Odf, foo: DatasetBuilder) -> None:
    assert odf("delete", "foo", "--yes", "--force").text == "Deleted foo\nNo longer computable: bar\n"


def test_resetting(odf: Odf, foo: DatasetBuilder) -> None:
    done = odf("reset", "foo", "3", "--old-head", foo.head, "--yes", "-o", "json").json
    assert done["result"] == "Updated"
    assert (done["oldHead"], done["newHead"]) == (foo.head, str(foo.blocks[3].hash))
    assert (done["numBlocks"], done["broken"]) == (1, [])
    assert odf("tail", "foo", "-n", "1", "-o", "json").json[0]["offset"] == 9
    stale = odf("reset", "foo", "--old-head", foo.head, "--yes", "-o", "json")
    assert (stale.code, stale.error["code"]) == (6, "old_head_mismatch")
    assert odf("reset", "foo", "99", "--yes").code == 4
    assert odf("reset", "foo", "--old-head", "nonsense", "--yes").code == 3
    assert odf("reset", "foo", "--yes", "-o", "json").json["newHead"] == str(foo.blocks[0].hash)
    assert odf("reset", "foo", "--yes", "-o", "json").json["result"] == "UpToDate"
    assert odf("reset", "foo", "--yes").text.count("\n") == 1


def test_watermarks(odf: Odf, foo: DatasetBuilder) -> None:
    done = odf("set-watermark", "foo", "2024-05-01T00:00:00Z", "-o", "json").json
    assert (done["result"], done["oldWatermark"]) == ("Updated", None)
    assert odf("show", "foo", "-o", "json").json["watermark"] == "2024-05-01T00:00:00Z"
    again = odf("set-watermark", "foo", "2023-05-01T00:00:00Z")
    assert (again.code, again.text) == (
        0,
        "The watermark of foo is 2024-05-01T00:00:00Z already: up-to-date\n",
    )
    for wrong, code in ((("bar", "2024-05-01T00:00:00Z"), 3), (("foo", "yesterday"), 3)):
        assert odf("set-watermark", *wrong).code == code


def test_a_pulled_dataset_has_its_watermark_elsewhere(odf: Odf, tmp_path: Path) -> None:
    odf("init")
    odf("pull", f"file://{root_dataset('foo').write(tmp_path / 'there')}", "--as", "foo")
    refused = odf("set-watermark", "foo", "2024-05-01T00:00:00Z", "-o", "json")
    assert (refused.code, refused.error["code"]) == (6, "pulled_dataset")


def test_compacting(odf: Odf, foo: DatasetBuilder) -> None:
    records = odf("tail", "foo", "-n", "99", "-o", "json").json
    done = odf("compact", "foo", "--hard", "--yes", "-o", "json").json
    assert (done["oldSlices"], done["newSlices"], done["oldBlocks"], done["newBlocks"]) == (2, 1, 5, 4)
    assert odf("tail", "foo", "-n", "99", "-o", "json").json == records
    assert odf("verify", "foo").code == 0
    assert odf("compact", "foo", "--yes").text == "There is nothing to compact in foo\n"
    assert odf("compact", "bar", "--yes", "-o", "json").error["code"] == "not_of_this_kind"
    assert odf("compact", "foo", "--max-slice-records", "0", "--yes").code == 2
    assert odf("compact", "foo", "--keep-metadata-only", "--yes").code == 0
    assert odf("tail", "foo", "-o", "json").json == []
