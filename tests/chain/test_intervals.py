"""Intervals and divergence: what is found, and how little is read for it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odf_core.chain import (
    Diverged,
    Divergence,
    InvalidInterval,
    SequenceBroken,
    find_divergence,
    iter_back,
    require_descendant,
    walk_interval,
)
from odf_core.errors import Conflict
from odf_core.identity import Multihash
from odf_core.metadata import SetInfo
from tests.builders.chain_builder import chain

NOWHERE = Multihash.sha3_256(b"nowhere")


class Reader:
    """Reads the blocks of a builder and counts the reads."""

    def __init__(self, builder):
        self._blocks = builder.by_hash()
        self.reads = []

    def __call__(self, block_hash):
        self.reads.append(block_hash)
        return self._blocks[block_hash]


@pytest.fixture(scope="module")
def trunk():
    builder = chain().seed().schema()
    for _ in range(4):
        builder.add_data(10)
    return builder


def test_the_whole_chain(trunk):
    assert walk_interval(Reader(trunk), trunk.head, None) == trunk.blocks
    assert list(iter_back(Reader(trunk), trunk.head)) == trunk.blocks[::-1]


@pytest.mark.parametrize("tail", range(6))
def test_an_interval_excludes_its_tail_and_reads_nothing_else(trunk, tail):
    read = Reader(trunk)
    assert walk_interval(read, trunk.head, trunk.blocks[tail].hash) == trunk.blocks[tail + 1 :]
    assert len(read.reads) == 5 - tail


def test_an_interval_to_an_earlier_head(trunk):
    assert walk_interval(Reader(trunk), trunk.blocks[3].hash, trunk.blocks[1].hash) == trunk.blocks[2:4]


def test_empty_intervals(trunk):
    assert walk_interval(Reader(trunk), trunk.head, trunk.head) == []
    assert walk_interval(Reader(trunk), None, None) == []


def test_a_tail_that_is_not_in_the_chain(trunk):
    with pytest.raises(InvalidInterval) as caught:
        walk_interval(Reader(trunk), trunk.head, NOWHERE)
    error = caught.value
    assert isinstance(error, Conflict) and error.code == "invalid_interval"
    assert (error.head, error.tail) == (trunk.head, NOWHERE)
    assert error.objects == (str(trunk.head), str(NOWHERE))
    with pytest.raises(InvalidInterval):
        walk_interval(Reader(trunk), None, NOWHERE)
    with pytest.raises(InvalidInterval):
        walk_interval(Reader(trunk), trunk.blocks[1].hash, trunk.blocks[3].hash)


def test_a_chain_whose_numbers_do_not_count_down_is_not_walked(trunk):
    broken = trunk.fork().event(SetInfo(), sequence_number=9)
    with pytest.raises(SequenceBroken):
        walk_interval(Reader(broken), broken.head, None)
    endless = chain().event(SetInfo(), prev=NOWHERE)
    with pytest.raises(SequenceBroken):
        list(iter_back(Reader(endless), endless.head))
    torn = chain().seed().event(SetInfo(), prev=None)
    with pytest.raises(SequenceBroken):
        list(iter_back(Reader(torn), torn.head))


def test_divergence_with_a_common_ancestor(trunk):
    ours = trunk.fork().info("ours").info("ours, too")
    theirs = trunk.fork().info("theirs")
    read_ours, read_theirs = Reader(ours), Reader(theirs)
    found = find_divergence(read_ours, ours.head, read_theirs, theirs.head)
    assert found == Divergence(trunk.head, 2, 1) and found.is_diverged
    assert len(read_ours.reads) == 2 and len(read_theirs.reads) == 1


def test_one_chain_continues_the_other(trunk):
    longer = trunk.fork().info().info()
    read_a, read_b = Reader(trunk), Reader(longer)
    found = find_divergence(read_a, trunk.head, read_b, longer.head)
    assert found == Divergence(trunk.head, 0, 2) and not found.is_diverged
    assert len(read_a.reads) == 1 and len(read_b.reads) == 2
    assert require_descendant(read_a, trunk.head, read_b, longer.head) == 2


def test_nothing_is_read_for_equal_heads(trunk):
    read = Reader(trunk)
    assert find_divergence(read, trunk.head, read, trunk.head) == Divergence(trunk.head, 0, 0)
    assert find_divergence(read, None, read, None) == Divergence(None, 0, 0)
    assert read.reads == []


def test_different_seeds_have_nothing_in_common(trunk):
    other = chain("other").seed().info()
    found = find_divergence(Reader(trunk), trunk.head, Reader(other), other.head)
    assert found == Divergence(None, 6, 2)


def test_an_empty_side(trunk):
    assert find_divergence(Reader(trunk), None, Reader(trunk), trunk.head) == Divergence(None, 0, 6)
    assert find_divergence(Reader(trunk), trunk.head, Reader(trunk), None) == Divergence(None, 6, 0)
    assert require_descendant(Reader(trunk), None, Reader(trunk), trunk.head) == 6


def test_the_errors_name_heads_ancestor_and_way_out(trunk):
    ours, theirs = trunk.fork().info("ours"), trunk.fork().info("theirs")
    with pytest.raises(Diverged) as caught:
        require_descendant(Reader(ours), ours.head, Reader(theirs), theirs.head)
    error = caught.value
    assert isinstance(error, Conflict) and error.code == "diverged"
    assert error.extras == {
        "ours": str(ours.head),
        "theirs": str(theirs.head),
        "common_ancestor": str(trunk.head),
    }
    assert str(trunk.head) in error.message and "force" in error.message
    with pytest.raises(InvalidInterval) as caught:
        require_descendant(Reader(ours), ours.head, Reader(trunk), trunk.head)
    assert caught.value.common_ancestor == trunk.head
    with pytest.raises(InvalidInterval):
        require_descendant(Reader(ours), ours.head, Reader(trunk), None)


def test_divergence_with_nothing_in_common(trunk):
    other = chain("other").seed()
    with pytest.raises(Diverged) as caught:
        require_descendant(Reader(trunk), trunk.head, Reader(other), other.head)
    assert caught.value.common_ancestor is None


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 5), st.integers(0, 6), st.integers(0, 6))
def test_divergence_of_any_two_branches(trunk, cut, ahead_a, ahead_b):
    base = trunk.fork()
    del base.blocks[cut + 1 :]
    a, b = base.fork(), base.fork()
    for number in range(ahead_a):
        a.info(f"a {number}")
    for number in range(ahead_b):
        b.info(f"b {number}")
    read_a, read_b = Reader(a), Reader(b)
    assert find_divergence(read_a, a.head, read_b, b.head) == Divergence(base.head, ahead_a, ahead_b)
    assert len(read_a.reads) <= max(ahead_a, 1) and len(read_b.reads) <= max(ahead_b, 1)
