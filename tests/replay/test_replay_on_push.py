"""Derivative datasets that others computed, replayed by the node that they are pushed to."""

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from odf_core.errors import OdfError
from tests.app_transform.deriving import get, wait
from tests.ingesting import IngestNode
from tests.replay.lies import changed_value
from tests.replay.publishing import own_copy, publishing
from tests.replay.tampering import World
from tests.services import Addresses

MODES = {"alice/strict": "before", "alice/lenient": "after"}


def test_lies_are_refused_or_found(services: Addresses, s3_client: Any, world: World, tmp_path: Path) -> None:
    root = world.chain(world.datasets["root"].id)
    with publishing(services, s3_client, world, tmp_path, replay_of=MODES) as publisher:
        strict, lenient = (own_copy(world, "stateless") for _ in MODES)
        honest = list(strict.blocks)
        changed_value(strict, random.Random(7), root)
        with pytest.raises(OdfError) as refused:
            publisher.publish("strict", strict)
        assert refused.value.code == "push_not_reproducible"
        assert publisher.node.node.get("/alice/strict/refs/head").status == 404
        shutil.rmtree(publisher.workspace.dataset("strict").path)
        strict.blocks = honest
        publisher.publish("strict", strict)
        assert publisher.node.node.get("/alice/strict/refs/head").status == 200

        place = changed_value(lenient, random.Random(7), root)
        publisher.publish("lenient", lenient)
        found = wait(publisher.node, lambda: _verdict(publisher.node, "lenient"))
        assert found["verdict"] == "Bad"
        assert [item["block"] for item in found["finding"]["findings"]] == [str(lenient.hashes[place])]
        assert found["finding"]["replay"]["steps"] == len(lenient.steps)


def _verdict(node: IngestNode, name: str) -> Any:
    status = get(node, f"/alice/{name}/verification")[1]
    return None if status["verdict"] == "Unknown" else status
