"""Replay of honest chains, and what keeps a chain from being replayed."""

import pytest


@pytest.mark.parametrize("name", ["stateless", "windowed"])
def test_an_honest_chain_comes_out_as_recorded(world, name):
    report = world.replay(name)
    assert report.findings == []
    assert report.ok
    assert (report.summary.steps, report.summary.replayed) == (6, 6)
    assert [engine.version for engine in report.summary.engines] == [world.engine.version()]
