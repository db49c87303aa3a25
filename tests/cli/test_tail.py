"""`odf tail` over a real dataset, and over the published one."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders.dataset_builder import root_dataset
from tests.cli.conftest import Odf
from tests.vectors import require_vectors


@pytest.fixture
def foo(odf: Odf, tmp_path: Path) -> str:
    there = root_dataset("foo").add(5).info("more").write(tmp_path / "there")
    odf("init")
    assert odf("pull", f"file://{there}", "--as", "foo").code == 0
    return "foo"


def test_the_last_records_in_every_form(odf: Odf, foo: str) -> None:
    rows = odf("tail", foo, "-n", "2", "-o", "json").json
    assert rows[1] == {
        "offset": 14,
        "op": 0,
        "system_time": "2024-01-02T00:00:00Z",
        "event_time": "2024-01-01T14:00:00Z",
        "city": "foo city 14",
        "population": 14000,
    }
    ran = odf("tail", foo, "-n", "2", "-o", "ndjson")
    assert [json.loads(line) for line in ran.text.splitlines()] == rows
    assert odf("tail", foo, "-n", "2", "-o", "json-aoa").json == [list(row.values()) for row in rows]
    assert odf("tail", foo, "-n", "2", "-o", "json-soa").json["offset"] == [13, 14]
    assert yaml.safe_load(odf("tail", foo, "-n", "2", "-o", "yaml").text) == rows
    header, *lines = odf("tail", foo, "-o", "csv").text.splitlines()
    assert header == "offset,op,system_time,event_time,city,population"
    assert [line.split(",")[0] for line in lines] == [str(number) for number in range(5, 15)]
    header, *lines = odf("tail", foo, "-n", "1", "--skip", "4").text.splitlines()
    assert [line.split("\t")[:2] for line in lines] == [["10", "+A"]]


def test_the_records_as_of_then_and_those_that_stand(odf: Odf, foo: str) -> None:
    def offsets(*options: str) -> list[int]:
        return [row["offset"] for row in odf("tail", foo, "-o", "json", *options).json]

    assert offsets("-n", "2", "--as-of", "7") == [6, 7]
    assert offsets("-n", "2", "--as-of", "9999-01-01") == [13, 14]
    assert offsets("-n", "2", "--state") == [13, 14]
    assert offsets("--at", "2024-01-01T01:30:00Z") == [0, 1]
    ran = odf("tail", foo, "--as-of", "15", "-o", "json")
    assert (ran.code, ran.error["code"]) == (4, "as_of_not_found")
    assert odf("tail", foo, "--at", "soon", "-o", "json").error["code"] == "as_of_invalid"


def test_small_queries_need_no_jvm(odf: Odf, foo: str) -> None:
    def ask(*words: str) -> Any:
        return odf("sql", "--engine", "datafusion", "-o", "json", *words)

    assert ask("SELECT count(*) AS n, max(city) AS last FROM foo;").json == [{"n": 15, "last": "foo city 9"}]
    assert ask("SELECT count(*) AS n FROM foo", "--as-of", "9").json == [{"n": 10}]
    assert ask("SELECT * FROM foo", "--as-of", "99").error["code"] == "as_of_not_found"
    assert ask("SELECT * FROM nobody").code == 4
    assert ask("SELECT 1", "--at", "2024-01-01").code == 2


def test_datasets_without_records(odf: Odf, foo: str) -> None:
    odf("new", "bar", "--root")
    odf("add", "bar.yaml")
    assert odf("tail", "bar", "-o", "json").json == []
    assert odf("tail", "nobody").code == 4
    assert odf("tail", foo, "-n", "-1").code == 2


def test_a_slice_whose_file_is_gone(odf: Odf, foo: str) -> None:
    for path in Path(".odf/datasets").glob("*/data/*"):
        path.unlink()
    ran = odf("tail", foo, "-o", "json")
    assert (ran.code, ran.error["code"]) == (7, "local_object_damaged")


def test_the_published_dataset(odf: Odf) -> None:
    there = require_vectors("datasets/city-population")
    odf("init")
    assert odf("pull", f"file://{there}", "--as", "cities").code == 0
    assert odf("tail", "cities", "-o", "json-aoa").json == [
        [0, 0, "2050-01-01T12:00:00Z", "2050-01-01T12:00:00Z", "A", 100],
        [1, 0, "2050-01-01T12:00:00Z", "2050-01-01T12:00:00Z", "B", 200],
    ]
