"""What the job of a node says of each lie about a dataset that somebody has pushed to it.

Every dataset is consistent by itself: hashes and links are right, the lie is in what they say. The node takes
what it is given (`admission.replay = none`, no rows hashed); what it refuses all the same the cases tell.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from odf_core.errors import OdfError
from tests.app_transform.deriving import get
from tests.replay.cases import CASES, FULL, Case, each
from tests.replay.publishing import Publisher, own_copy, publishing
from tests.replay.tampering import World
from tests.services import Addresses

_FEW = {
    "stateless-null_moved-0",
    "windowed-forged_watermark-0",
    "stateless-extra_column-0",
    "stateless-false_name-0",
}
JUDGED = [case for case in CASES if FULL or str(case) in _FEW]


@pytest.fixture(scope="module")
def publisher(
    services: Addresses, s3_client: Any, world: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Publisher]:
    folder = tmp_path_factory.mktemp("published")
    with publishing(services, s3_client, world, folder, replay="none", logical_hash="off") as publisher:
        yield publisher


@each(JUDGED)
def test_the_job_names_the_block(world: World, publisher: Publisher, case: Case) -> None:
    copy, name = own_copy(world, case.chain), str(case).replace("_", "-")
    if case.kind.is_damage:
        publisher.publish(name, copy)
        place = case.tell_in(copy, world)
        publisher.damage(copy, place)
    else:
        place = case.tell_in(copy, world)
        if case.kind.refused is not None:
            with pytest.raises(OdfError) as refused:
                publisher.publish(name, copy)
            assert refused.value.code == case.kind.refused
            return
        publisher.publish(name, copy)
    status, found = publisher.node.post(f"/alice/{name}/verification")
    assert (status, found["ok"]) == (200, False), found
    assert found["findings"][0]["block"] == str(copy.hashes[place])
    assert case.kind.is_damage or not found["replay"]["ok"]
    if case.kind.is_local and not case.kind.met:
        assert found["numFindings"] == 1
    verdict = get(publisher.node, f"/alice/{name}/verification")[1]
    assert (verdict["verdict"], verdict["isCurrent"]) == ("Bad", True)
