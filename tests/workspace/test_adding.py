"""Datasets from manifests: names, inputs, faults with their lines, all of a call or none."""

import io
from pathlib import Path

import pytest

from odf_core.chain import Projection
from odf_core.errors import OdfError
from odf_core.identity import DatasetAlias, DatasetId
from odf_core.metadata import (
    DatasetKind,
    InvalidManifest,
    InvalidSnapshot,
    MissingInputs,
    Timestamp,
    read_snapshots,
)
from odf_core.workspace import DatasetInUse, LocalDatasetExists, ManifestUnreadable, TokenStore, Workspace
from odf_core.workspace.adding import Added, add_snapshots, renamed
from odf_core.workspace.manifests import read_manifests
from odf_core.workspace.templates import template
from odf_core.workspace.verification import verify_dataset
from tests.vectors import require_vectors

NOW = Timestamp.parse("2026-01-02T03:04:05Z")
ROOT = template(DatasetAlias.parse("root"), DatasetKind.ROOT)
DERIVATIVE = template(DatasetAlias.parse("derived"), DatasetKind.DERIVATIVE).replace(
    "name-of-an-input", "root"
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.init(tmp_path / "work", tokens=TokenStore(tmp_path / "home" / "tokens.yaml"))


def add(workspace: Workspace, *texts: str, replace: bool = False) -> list[Added]:
    found = [item for number, text in enumerate(texts) for item in read_snapshots(text, f"{number}.yaml")]
    return add_snapshots(workspace, found, NOW, replace_existing=replace)


def test_a_manifest_becomes_a_chain(workspace: Workspace) -> None:
    (added,) = add(workspace, ROOT)
    blocks = list(added.dataset.folder.walk())
    assert [block.block.sequence_number for block in blocks] == [2, 1, 0]
    assert {block.block.system_time for block in blocks} == {NOW}
    state = Projection.of(reversed(blocks))
    assert state.seed is not None
    assert (state.seed.dataset_id, list(state.push_sources)) == (added.dataset.id, ["default"])
    assert verify_dataset(workspace.dataset("root")).ok


def test_ids_are_new_each_time(workspace: Workspace, tmp_path: Path) -> None:
    other = Workspace.init(tmp_path / "other")
    assert add(workspace, ROOT)[0].dataset.id != add(other, ROOT)[0].dataset.id


def test_one_call_may_hold_a_dataset_and_its_input_in_any_order(workspace: Workspace) -> None:
    derived, root = add(workspace, DERIVATIVE, ROOT)
    transform = Projection.of(reversed(list(derived.dataset.folder.walk()))).transform
    assert transform is not None
    assert [(item.dataset_ref, item.alias) for item in transform.inputs] == [(root.dataset.id, "input")]


def test_one_text_may_hold_several(workspace: Workspace) -> None:
    add(workspace, f"{ROOT}---\n{DERIVATIVE}")
    assert [str(item.alias) for item in workspace.datasets()] == ["derived", "root"]


def test_an_input_may_be_there_already_by_name_or_id(workspace: Workspace) -> None:
    (root,) = add(workspace, ROOT)
    add(workspace, DERIVATIVE)
    by_id = DERIVATIVE.replace("datasetRef: root", f"datasetRef: {root.dataset.id}")
    add(workspace, by_id.replace("name: derived", "name: other"))
    assert len(list(workspace.datasets())) == 3


def test_inputs_that_do_not_exist(workspace: Workspace) -> None:
    with pytest.raises(MissingInputs, match=r"^1.yaml, line 7: .*: root\."):
        add(workspace, ROOT.replace("name: root", "name: else"), DERIVATIVE)
    assert list(workspace.datasets()) == []
    unknown = DERIVATIVE.replace("datasetRef: root", f"datasetRef: {DatasetId.from_name_seed('x')}")
    with pytest.raises(MissingInputs):
        add(workspace, unknown)


def test_a_circle_of_inputs(workspace: Workspace) -> None:
    other = DERIVATIVE.replace("name: derived", "name: root").replace("Ref: root", "Ref: derived")
    with pytest.raises(InvalidSnapshot, match="in a circle: derived, root"):
        add(workspace, DERIVATIVE, other)
    itself = DERIVATIVE.replace("Ref: root", "Ref: derived")
    with pytest.raises(InvalidSnapshot, match="in a circle: derived"):
        add(workspace, itself)


def test_names_that_are_taken(workspace: Workspace) -> None:
    add(workspace, ROOT)
    with pytest.raises(LocalDatasetExists, match="--replace"):
        add(workspace, DERIVATIVE, ROOT)
    assert [str(item.alias) for item in workspace.datasets()] == ["root"]
    with pytest.raises(InvalidSnapshot, match=r"1\.yaml, line 4: .* in 0\.yaml already"):
        add(workspace, DERIVATIVE, DERIVATIVE)


def test_a_replacement_is_another_dataset(workspace: Workspace) -> None:
    (old,) = add(workspace, ROOT)
    (new,) = add(workspace, ROOT, replace=True)
    assert new.replaced == old.dataset.id != new.dataset.id
    assert [item.id for item in workspace.datasets()] == [new.dataset.id]
    assert not old.dataset.path.exists()
    add(workspace, DERIVATIVE)
    with pytest.raises(DatasetInUse, match="derived read what would be replaced"):
        add(workspace, ROOT, replace=True)
    assert [item.id for item in workspace.datasets()][1] == new.dataset.id
    assert len(add(workspace, ROOT, DERIVATIVE, replace=True)) == 2


def test_one_name_for_one_dataset(workspace: Workspace) -> None:
    name = DatasetAlias.parse("other")
    found = renamed(read_snapshots(ROOT, "x"), name)
    assert add_snapshots(workspace, found, NOW)[0].dataset.alias == name
    with pytest.raises(InvalidSnapshot, match="to 2 datasets"):
        renamed(read_snapshots(f"{ROOT}---\n{DERIVATIVE}", "x"), name)


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("sourceName: default", "sourceName: default\n    colour: red", 18, "unknown property 'colour'"),
        ("  kind: Root", "  kind: Rood", 5, "has to be one of Root, Derivative"),
        ("kind: NdJson", "kind: NdJsn", 19, "has to be one of"),
        ("version: 1", "version: 7", 2, "version 7"),
        ("content:\n", "content:\n  extra: 1\n", 4, "unknown property 'extra'"),
        ("kind: DatasetSnapshot", "kind: Snapshot", 1, "is of kind 'Snapshot'"),
        ("  name: root", "  name: ro_ot", 4, "ro_ot"),
        ("- id\n", "- [id]\n", 30, "has to be text"),
        ("kind: Root", "kind: Derivative", 16, "needs a dataset of kind Root"),
        ("- kind: SetInfo", "- kind: Seed", 32, "unknown property 'description'"),
    ],
)
def test_faults_are_told_with_their_line(
    workspace: Workspace, old: str, new: str, line: int, says: str
) -> None:
    with pytest.raises(OdfError) as caught:
        add(workspace, ROOT.replace(old, new, 1))
    where = f"0.yaml, line {line}: "
    assert str(caught.value).startswith(where), caught.value
    assert says in str(caught.value)
    assert list(workspace.datasets()) == []


SOURCES = """\
kind: DatasetSnapshot
version: 1
content:
  name: both
  kind: Root
  metadata:
"""
POLLING = """\
  - kind: SetPollingSource
    fetch: {kind: Url, url: "https://example.org"}
    read: {kind: Csv}
    merge: {kind: Append}
"""
PUSH = """\
  - kind: AddPushSource
    sourceName: default
    read: {kind: Csv}
    merge: {kind: Append}
"""


@pytest.mark.parametrize(
    ("sources", "line", "says"),
    [
        (POLLING + POLLING, 11, "two polling sources"),
        (POLLING + PUSH, 11, "a polling source and push sources"),
        (PUSH + POLLING, 11, "push sources and a polling source"),
        (PUSH + PUSH, 11, "two push sources of the name 'default'"),
        (PUSH.replace("{kind: Csv}", "{kind: Csv, schema: {fields: []}, ddlSchema: [a INT]}"), 7, "schema"),
    ],
)
def test_sources_that_do_not_go_together(workspace: Workspace, sources: str, line: int, says: str) -> None:
    with pytest.raises(InvalidSnapshot, match=rf"^0\.yaml, line {line}: .*{says}"):
        add(workspace, SOURCES + sources)
    assert len(add(workspace, SOURCES + PUSH + PUSH.replace("default", "other"))) == 1


def test_json_has_lines_too(workspace: Workspace) -> None:
    text = '{\n "kind": "DatasetSnapshot",\n "version": 1,\n "content": {\n  "name": "x",\n  "colour": 1}}'
    with pytest.raises(InvalidManifest, match=r"^0\.yaml, line 6: .*'colour'"):
        add(workspace, text)


def test_lines_of_a_later_document(workspace: Workspace) -> None:
    with pytest.raises(InvalidManifest, match=rf"^0\.yaml, line {ROOT.count(chr(10)) + 6}: "):
        add(workspace, ROOT + "---\n" + ROOT.replace("  kind: Root", "  kind: Rood"))


def no_fetch(url: str, most: int) -> bytes:
    raise AssertionError(url)


def test_files_folders_and_standard_input(tmp_path: Path) -> None:
    folder = tmp_path / "manifests"
    (folder / "deep" / ".hidden").mkdir(parents=True)
    (folder / "root.yaml").write_text(ROOT)
    (folder / "deep" / "derived.YML").write_text(DERIVATIVE)
    (folder / "deep" / "notes.yaml").write_text("just: notes\n")
    (folder / "deep" / ".hidden" / "x.yaml").write_text(ROOT)
    (folder / "deep" / "loop").symlink_to(folder)

    def names(*references: str, recursive: bool = False) -> list[str]:
        found = read_manifests(
            references, stdin=io.BytesIO(ROOT.encode()), fetch=no_fetch, recursive=recursive
        )
        return [str(item.snapshot.name) for item in found]

    assert names(str(folder), recursive=True) == ["derived", "root"]
    assert names("-", str(folder / "deep" / "derived.YML")) == ["root", "derived"]
    for wrong in (str(folder), str(folder / "missing"), str(folder / "deep" / "loop")):
        with pytest.raises(ManifestUnreadable):
            names(wrong)
    with pytest.raises(InvalidManifest, match=r"notes\.yaml"):
        names(str(folder / "deep" / "notes.yaml"))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ManifestUnreadable, match="no manifest"):
        names(str(empty), recursive=True)
    (empty / "none.yaml").write_text("")
    with pytest.raises(InvalidManifest, match="no manifest in it"):
        names(str(empty / "none.yaml"))


def test_the_published_snapshots_are_read() -> None:
    import json

    cases = json.loads(require_vectors("metadata/yaml.json").read_text())
    texts = [
        item["yaml"] for item in cases.get("cases", cases) if "DatasetSnapshot" in str(item.get("yaml", ""))
    ]
    assert texts
    assert all(len(read_snapshots(text, "x")) == 1 for text in texts)


@pytest.mark.parametrize(
    ("old", "new", "line", "code"),
    [
        ("- value DOUBLE", "- value DUBLE", 23, "invalid_ddl_schema"),
        ("- value DOUBLE", "- id DOUBLE", 20, "invalid_ddl_schema"),
        ("- value DOUBLE", "- offset DOUBLE", 20, "bad_input_schema"),
        ("- event_time TIMESTAMP", "- event_time INT", 20, "bad_input_schema"),
        ("- value DOUBLE", "- value DECIMAL(60, 2)", 20, "unsupported_column_type"),
        ("kind: NdJson", "kind: NdJson\n      encoding: cp4711", 20, "invalid_read_option"),
        ("      - id\n", "      - key\n", 30, "merge_key_missing"),
        ("primaryKey:\n      - id\n", "primaryKey: []\n", 29, "merge_key_missing"),
        ("kind: Ledger", "kind: ChangelogStream", 28, "merge_key_missing"),
        (
            "merge:\n",
            "preprocess: {kind: Sql, engine: flink, query: select 1}\n    merge:\n",
            27,
            "engine_unknown",
        ),
        ("merge:\n", "preprocess: {kind: Sql, engine: spark, query: ' '}\n    merge:\n", 27, ""),
    ],
)
def test_sources_that_could_never_work_are_told_at_once(
    workspace: Workspace, old: str, new: str, line: int, code: str
) -> None:
    assert old in ROOT
    with pytest.raises(OdfError) as caught:
        add(workspace, ROOT.replace(old, new, 1))
    assert str(caught.value).startswith(f"0.yaml, line {line}: "), caught.value
    assert caught.value.code == (code or "invalid_read_option")
    assert list(workspace.datasets()) == []


def test_a_vocabulary_behind_a_source_counts_for_it(workspace: Workspace) -> None:
    vocabulary = "  - kind: SetVocab\n    eventTimeColumn: value\n"
    with pytest.raises(OdfError, match=r"line 20: The event time column 'value' is declared as double"):
        add(workspace, ROOT + vocabulary)
    renamed_columns = "  - kind: SetVocab\n    offsetColumn: number\n"
    add(workspace, ROOT.replace("- value DOUBLE", "- offset DOUBLE") + renamed_columns)


def test_with_a_query_between_only_the_query_knows_the_columns(workspace: Workspace) -> None:
    query = "preprocess: {kind: Sql, engine: spark, query: select id as key from input}\n    merge:\n"
    add(workspace, ROOT.replace("merge:\n", query).replace("      - id\n", "      - key\n"))
