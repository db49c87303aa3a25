"""The same steps on a standalone cluster of two workers: the same hashes and states as in one process.

Four JVMs need minutes of a machine with two cores, so it is asked for: ODF_TEST_FULL=1.
"""

import os
from dataclasses import replace

import pytest

from odf_core.engines.handle import SparkEngine
from odf_core.engines.transforming import SparkTransforms
from tests.engines.spark_cluster import Cluster
from tests.spark_fixture import shared_engine
from tests.transforms_spark.test_split_independence import CONFS, SHAPES, run

pytestmark = [
    pytest.mark.skipif(not os.environ.get("ODF_TEST_FULL"), reason="only with ODF_TEST_FULL=1"),
    pytest.mark.timeout(1800),
]
TRIED = ("explode", "union", "group", "sliding", "top_n", "state_join", "two_steps", "running", "chain")


@pytest.fixture(scope="module")
def on_cluster(tmp_path_factory):
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
    yield SparkTransforms(engine, 250.0)
    engine.stop()
    cluster.stop()


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
