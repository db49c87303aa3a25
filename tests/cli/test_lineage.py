"""`odf lineage`, and `odf pull` of several datasets, as far as no engine is needed."""

from pathlib import Path

import pytest

from tests.cli.conftest import Odf

ROOT = """\
kind: DatasetSnapshot
version: 1
content:
  name: {name}
  kind: Root
  metadata:
  - {{kind: AddPushSource, sourceName: default, read: {{kind: Csv}}, merge: {{kind: Append}}}}
"""
DERIVATIVE = """\
kind: DatasetSnapshot
version: 1
content:
  name: {name}
  kind: Derivative
  metadata:
  - kind: SetTransform
    inputs: [{inputs}]
    transform: {{kind: Sql, engine: spark, query: select event_time from it}}
"""


@pytest.fixture
def diamond(odf: Odf) -> Odf:
    """`both` of `left` and `right`, both of `rain`; `right` reads `snow` too."""
    odf("init")
    texts = [ROOT.format(name=name) for name in ("rain", "snow")]
    for name, inputs in {"left": "rain", "right": "rain snow", "both": "left right"}.items():
        refs = ", ".join(f"{{datasetRef: {item}}}" for item in inputs.split())
        texts.append(DERIVATIVE.format(name=name, inputs=refs))
    Path("all.yaml").write_text("---\n".join(texts))
    assert odf("add", "all.yaml").code == 0
    return odf


def test_a_note_about_what_cannot_be_checked_yet(odf: Odf) -> None:
    odf("init")
    Path("rain.yaml").write_text(ROOT.format(name="rain"))
    Path("left.yaml").write_text(DERIVATIVE.format(name="left", inputs="{datasetRef: rain}"))
    odf("add", "rain.yaml")
    told = odf("add", "left.yaml").text.splitlines()
    assert told == [
        "Added left",
        "note: rain has no schema yet, so the query is checked at the first pull",
        "1 dataset(s) added",
    ]


def test_the_tree(diamond: Odf) -> None:
    assert diamond("lineage", "both").text.splitlines() == [
        "both (derivative)",
        "├── left (derivative)",
        "│   └── rain (root)",
        "└── right (derivative)",
        "    ├── rain (root)",
        "    └── snow (root)",
    ]
    assert diamond("lineage", "snow").text.splitlines() == [
        "snow (root)",
        "read by",
        "└── right (derivative)",
        "    └── both (derivative)",
    ]


def test_for_programs(diamond: Odf) -> None:
    ids = {item["name"]: item["id"] for item in diamond("list", "-o", "json").json}
    found = diamond("lineage", "right", "--output-format", "json").json
    assert (found["dataset"], found["datasetId"]) == ("right", ids["right"])
    assert found["upstream"] == [ids["rain"], ids["snow"]]
    assert found["downstream"] == [ids["both"]]
    by_name = {item["name"]: item for item in found["datasets"]}
    assert by_name["both"]["inputs"] == [ids["left"], ids["right"]]
    assert (by_name["left"]["kind"], by_name["left"]["inputs"]) == ("Derivative", [])  # beside the way
    dot = diamond("lineage", "right", "-o", "dot").text
    assert dot.startswith("digraph lineage {\n")
    assert f'"{ids["snow"]}" -> "{ids["right"]}";' in dot
    assert f'"{ids["rain"]}" -> "{ids["left"]}";' not in dot


def test_what_is_missing(diamond: Odf) -> None:
    (snow,) = [item["id"] for item in diamond("list", "-o", "json").json if item["name"] == "snow"]
    assert diamond("delete", "snow", "--force", "--yes").code == 0
    assert f"└── snow (not here: {snow})" in diamond("lineage", "right").text
    (found,) = [
        item for item in diamond("lineage", "right", "-o", "json").json["datasets"] if item["id"] == snow
    ]
    assert (found["isLocal"], found["kind"]) == (False, None)
    assert 'label="snow", shape=ellipse, style=dashed' in diamond("lineage", "right", "-o", "dot").text
    ran = diamond("pull", "right", "-o", "json")
    assert (ran.code, ran.error["code"]) == (4, "local_dataset_not_found")
    assert "`odf pull right --recursive`" in ran.error["message"]
    ran = diamond("pull", "both", "-r")
    assert ran.code == 4
    lines = ran.text.splitlines()
    assert "both: skipped, right could not be brought up to date" in lines
    assert lines[-1] == "5 dataset(s): 2 up-to-date, 2 skipped, 1 failed"
    assert "register the repository that has it" in ran.err


def test_there_is_no_such_dataset(odf: Odf) -> None:
    odf("init")
    ran = odf("lineage", "nobody", "--output-format", "json")
    assert (ran.code, ran.error["code"]) == (4, "local_dataset_not_found")


def test_several_at_once(diamond: Odf) -> None:
    rows = diamond("pull", "both", "rain", "-o", "json").json
    assert [(row["dataset"], row["way"], row["result"]) for row in rows] == [
        ("rain", "None", "UpToDate"),
        ("both", "Transform", "UpToDate"),
    ]
    assert diamond("pull", "--all").text.splitlines()[-1] == "3 dataset(s): 3 up-to-date"
    assert diamond("pull", "both").text == "both is up to date\n"
    assert diamond("pull", "rain").code == 3  # nothing to pull from
    for wrong in (("both", "--all"), ("both", "left", "--as", "x"), ()):
        assert diamond("pull", *wrong).code == 2
