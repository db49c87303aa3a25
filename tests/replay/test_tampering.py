"""Every lie about a step is found by replay, and the block that tells it is named."""

from odf_core.storage import DatasetStore, DirectoryStore
from odf_core.verify import verify_integrity
from tests.replay.cases import CASES, DONE, Case, each
from tests.replay.tampering import World


def test_there_are_enough_of_them() -> None:
    assert sum(case.kind.name in DONE for case in CASES) >= 60


@each(CASES)
def test_a_lie_is_found_where_it_is(world: World, case: Case) -> None:
    copy, place = case.tell(world)
    copy.rebuild()

    integrity = verify_integrity(DatasetStore(DirectoryStore(copy.path)))
    assert {finding.code for finding in integrity.findings} == set(case.kind.met.split())

    report = world.replay(case.chain, copy.path)
    assert not report.ok
    assert report.findings[0].block == str(copy.hashes[place])
    if case.kind.is_local:
        assert len(report.findings) == 1
