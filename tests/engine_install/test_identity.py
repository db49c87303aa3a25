"""What an engine's identity covers, and what it does not."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from odf_core.engines.contract import TELL
from odf_core.engines.identity import (
    DATAFUSION_CODE,
    SPARK_CODE,
    datafusion_identity,
    files_of,
    spark_identity,
)

ROOT = Path(__file__).parents[2]

# Modules that a step's code imports and that are no part of an identity: why they change no row.
CARRIERS = {
    "odf_core.errors": "names of errors",
    "odf_core.lazy": "imports",
    "odf_core.limits": "bounds",
    "odf_core.identity": "names and hashes of datasets",
    "odf_core.metadata": "blocks and messages as deployed; vectors hold them",
    "odf_core.sha3": "hashes, not rows",
    "odf_core.data": "reads and hashes files; its writer of rows is covered",
    "odf_core.ingest": "schemas as bytes of Arrow",
    "odf_core.transform": "the request",
    "odf_core.engines.contract": "whether a call can be read",
    "odf_core.engines.datafusion.calls": "the request",
    "odf_core.engines.errors": "names of errors",
    "odf_core.engines.exchange": "where files are",
    "odf_core.engines.folders": "where files are",
    "odf_core.engines.messages": "the request, as deployed",
    "odf_core.engines.options": "how the process is run; what could change a row is refused in it",
    "odf_core.engines.program": "how the process is run",
    "odf_core.engines.spark.committing": "where executors write",
    "odf_core.engines.spark.handlers": "calls by their names",
    "odf_core.engines.spark.java_source": "compiles what is covered",
    "odf_core.engines.spark.sharing": "where files are",
}


def module_file(name: str) -> Path | None:
    path = ROOT / name.replace(".", "/")
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def imported(name: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(module_file(name).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("odf_core"):
            found |= {node.module, *(f"{node.module}.{item.name}" for item in node.names)}
        elif isinstance(node, ast.Import):
            found |= {item.name for item in node.names if item.name.startswith("odf_core")}
    return {item for item in found if module_file(item)}


def needed(*names: str) -> set[str]:
    found, todo = set(), list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += imported(name)
    return found


@pytest.mark.parametrize(
    ("starts", "code"),
    [
        (("odf_core.engines.spark.transforms.handler", "odf_core.engines.spark.session"), SPARK_CODE),
        (("odf_core.engines.datafusion.step",), DATAFUSION_CODE),
    ],
)
def test_whatever_a_step_needs_is_covered_or_only_carries(starts, code):
    covered = {ROOT / "odf_core" / name for name in files_of(code)}
    assert all(path.is_file() for path in covered)
    left = {name for name in needed(*starts) if module_file(name) not in covered}
    assert {name for name in left if not any(f"{name}.".startswith(f"{item}.") for item in CARRIERS)} == set()


def test_nothing_is_called_a_carrier_that_is_needed_nowhere():
    every = needed(
        "odf_core.engines.spark.transforms.handler",
        "odf_core.engines.spark.session",
        "odf_core.engines.datafusion.step",
    )
    assert {
        item for item in CARRIERS if not any(f"{name}.".startswith(f"{item}.") for name in every)
    } == set()


def test_neither_place_nor_time_counts_and_code_does(tmp_path):
    shutil.copytree(ROOT / "odf_core", tmp_path / "odf_core", copy_function=shutil.copyfile)

    def told() -> dict[str, str]:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        command = [sys.executable, "-P", "-m", TELL]
        answer = subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)
        return {item["name"]: item["identity"] for item in json.loads(answer.stdout)["engines"]}

    own = {"spark": spark_identity(), "datafusion": datafusion_identity()}
    assert told() == own
    for name in ("spark/gates/allowed/functions.txt", "datafusion/warm_pool.py", "handle.py"):
        path = tmp_path / "odf_core/engines" / name
        path.write_text(path.read_text() + "# the last two are only about how it is run\n")
    changed = told()
    assert changed["datafusion"] == own["datafusion"]
    assert changed["spark"] != own["spark"]
