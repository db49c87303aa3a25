"""Every lie about a step is found by replay, and the block that tells it is named."""

import random

import pytest

from odf_core.storage import DatasetStore, DirectoryStore
from odf_core.verify import verify_integrity
from tests.replay.lies import LIES, LOCAL, forged_file

SEEDS = range(4)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
@pytest.mark.parametrize("name", ["stateless", "windowed"])
def test_a_lie_is_found_where_it_is(world, name, lie, seed):
    copy = world.copy(name)
    place = lie(copy, random.Random(f"{name} {lie.__name__} {seed}"), world.chain(world.datasets["root"].id))
    copy.rebuild()

    integrity = verify_integrity(DatasetStore(DirectoryStore(copy.path)))
    found = [finding.code for finding in integrity.findings]
    assert found == (["logical_hash_mismatch"] if lie is forged_file else [])

    report = world.replay(name, copy.path)
    assert not report.ok
    assert report.findings[0].block == str(copy.hashes[place])
    if lie in LOCAL:
        assert len(report.findings) == 1
        assert report.findings[0].code == "not_reproducible"
