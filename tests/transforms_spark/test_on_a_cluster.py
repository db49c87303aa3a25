"""The same steps on a standalone cluster of two workers: the same hashes and states as in one process.

Four JVMs need minutes of a machine with two cores, so it is asked for: ODF_TEST_FULL=1.
"""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from odf_core.engines.handle import SparkEngine
from odf_core.engines.merging import SparkMerges
from odf_core.engines.transforming import SparkTransforms
from odf_core.metadata import Timestamp
from odf_core.workspace import Workspace
from odf_core.workspace.ingests import Ingests
from odf_core.workspace.transforms import Transforms
from tests.engines.spark_cluster import Cluster
from tests.real_data.reading import DATA
from tests.spark_fixture import shared_engine, spark_engine
from tests.transforms_spark.test_split_independence import CONFS, SHAPES, run
from tests.workspace_transforms.person import Person, derivative

__all__ = ["spark_engine"]

pytestmark = [
    pytest.mark.skipif(not os.environ.get("ODF_TEST_FULL"), reason="only with ODF_TEST_FULL=1"),
    pytest.mark.timeout(1800),
]
REAL_ROOTS = """
kind: DatasetSnapshot
version: 1
content:
  name: leap-seconds
  kind: Root
  metadata:
  - kind: AddPushSource
    sourceName: default
    read: {kind: Csv, header: true, schema: [effective_from TIMESTAMP NOT NULL, tai_minus_utc INT NOT NULL]}
    merge: {kind: Ledger, primaryKey: [effective_from]}
  - kind: SetVocab
    eventTimeColumn: effective_from
---
kind: DatasetSnapshot
version: 1
content:
  name: countries
  kind: Root
  metadata:
  - kind: AddPushSource
    sourceName: default
    read: {kind: Csv, separator: "\\t", schema: [code STRING NOT NULL, name STRING NOT NULL]}
    merge: {kind: Snapshot, primaryKey: [code]}
"""
REAL_LEVELS = (
    (
        "seconds",
        "select effective_from as event_time, tai_minus_utc as s from `leap-seconds`",
        "leap-seconds",
    ),
    (
        "letters",
        "select substr(code, 1, 1) as letter, max(event_time) as event_time, count(*) as lands, "
        "avg(length(name)) as length from countries group by substr(code, 1, 1)",
        "countries",
    ),
    (
        "decades",
        "select max(event_time) as event_time, year(event_time) div 10 as decade, count(*) as n from seconds "
        "group by year(event_time) div 10",
        "seconds",
    ),
    (
        "both",
        "select greatest(d.event_time, l.event_time) as event_time, decade, letter, lands, length "
        "from decades d join letters l on d.n = l.lands",
        "decades",
        "letters",
    ),
)
EDITIONS = (("1990", "2010-06-01"), ("2017", "2011-09-01"))
TRIED = ("explode", "union", "group", "sliding", "top_n", "state_join", "two_steps", "running", "chain")


@pytest.fixture(scope="module")
def cluster_engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    cluster = Cluster(folder, workers=2)
    conf = (
        ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.executor.memory", "450m"),
    )
    options = replace(
        shared_engine().options,
        master=cluster.url,
        conf=conf,
        memory="1g",
        work_dir=folder / "w",
        handler_modules=("tests.transforms_spark.transform_handlers",),
    )
    engine = SparkEngine(options)
    yield engine
    engine.stop()
    cluster.stop()


@pytest.fixture(scope="module")
def on_cluster(cluster_engine):
    return SparkTransforms(cluster_engine, 250.0)


def steps():
    """Three steps of some hundred rows, with corrections and retractions of the first."""
    keys, tags = ("x", "y", "z", None), (["p", "q"], [], None, ["r"])
    first = [(0, n % 40, keys[n % 4], 0.1 * n, n % 5 - 2, tags[n % 4]) for n in range(300)]
    second = []
    for record in first[:60]:
        second += [(2, *record[1:]), (3, *record[1:3], record[3] * 3, *record[4:])]
    third = [(1, *record[1:]) for record in first[100:140]] + [(0, 44, "x", 1e16, 1, ["p"])]
    weights = [(0, n % 40, keys[n % 4], n % 7) for n in range(200)]
    return [(first, weights[:100]), (second, weights[100:]), (third, [(1, *weights[3][1:])])]


@pytest.mark.parametrize("shape", TRIED)
def test_the_same_hashes(transforms, on_cluster, tmp_path, shape):
    assert shape in SHAPES
    marks = [None, None, 40]
    here = run(transforms, tmp_path, shape, steps(), marks, CONFS[0], True)
    there = run(on_cluster, tmp_path, shape, steps(), marks, CONFS[2], False)
    assert [step.logical_hash for step in here.steps] == [step.logical_hash for step in there.steps]
    assert [step.checkpoint.read_bytes() for step in here.steps if step.checkpoint] == [
        step.checkpoint.read_bytes() for step in there.steps if step.checkpoint
    ]
    assert any(step.logical_hash for step in here.steps)


def test_a_pipeline_of_real_data(spark_engine, cluster_engine, tmp_path):
    """Two real datasets in three levels, computed edition by edition here and there."""
    folders = [tmp_path / name for name in ("here", "there")]
    people = [Person.at(folders[0], spark_engine)]
    people[0].add(REAL_ROOTS, *(derivative(*item) for item in REAL_LEVELS))
    shutil.copytree(people[0].workspace.root, folders[1] / people[0].workspace.root.name)
    people.append(Person(Workspace(folders[1] / people[0].workspace.root.name), cluster_engine))
    for number, (leaps, lands) in enumerate(EDITIONS):
        now = Timestamp.parse(f"2026-01-0{number + 1}T00:00:00Z")
        for person in people:
            ingests = Ingests(person.workspace, SparkMerges(person.engine, 250.0), now=lambda now=now: now)
            ingests.push("leap-seconds", DATA / f"leap-seconds-{leaps}.csv")
            ingests.push(
                "countries", _plain(lands, tmp_path), event_time=Timestamp.parse(f"{lands}T00:00:00Z")
            )
            transforms = Transforms(person.workspace, person.choose, now=lambda now=now: now)
            for name, *_ in REAL_LEVELS:
                transforms.update(name)
    for name, *_ in REAL_LEVELS:
        here, there = (person.slices(name) for person in people)
        assert [str(item.logical_hash) for item in here] == [str(item.logical_hash) for item in there]
        assert len(here) == len(EDITIONS), name
        assert people[0].workspace.dataset(name).head == people[1].workspace.dataset(name).head


def _plain(edition: str, folder: Path) -> Path:
    """The register without its comments."""
    text = (DATA / f"countries-{edition}.tab").read_text("utf-8")
    path = folder / f"countries-{edition}.tab"
    path.write_text("".join(line for line in text.splitlines(True) if not line.startswith("#")), "utf-8")
    return path
