"""The order of updates: each dataset once, inputs before their readers, however long the way."""

from itertools import pairwise

import pytest

from odf_core.workspace.pulling import DatasetsInCircle, PullNode, Way, missing_inputs, pull_order
from tests.builders.chain_builder import dataset_id


def nodes(**inputs: str) -> dict:
    """Datasets and what they read, as words; what nobody describes is missing."""
    found = {
        dataset_id(name): PullNode(
            dataset_id(name),
            name,
            Way.TRANSFORM if reads else Way.POLL,
            tuple(dataset_id(item) for item in reads.split()),
        )
        for name, reads in inputs.items()
    }
    missing = {item for reads in inputs.values() for item in reads.split()} - inputs.keys()
    return found | {
        dataset_id(name): PullNode(dataset_id(name), name, Way.MISSING) for name in sorted(missing)
    }


def order(known: dict, *wanted: str, recursive: bool = True) -> list[str]:
    return [
        node.name for node in pull_order(known, [dataset_id(name) for name in wanted], recursive=recursive)
    ]


def test_a_diamond() -> None:
    known = nodes(top="left right", left="root", right="root", root="", other="")
    assert order(known, "top") == ["root", "left", "right", "top"]
    assert order(known, "top", "left") == ["root", "left", "right", "top"]
    assert order(known, "top", recursive=False) == ["top"]


def test_what_was_asked_for_is_put_in_order_too() -> None:
    known = nodes(c="b", b="a", a="")
    assert order(known, "c", "a", recursive=False) == ["a", "c"]
    assert order(known, "c", "c", "b", recursive=False) == ["b", "c"]


def test_a_reader_of_many_levels() -> None:
    known = nodes(a="", b="a", c="a b", d="a b c", e="d a")
    assert order(known, "e") == ["a", "b", "c", "d", "e"]


def test_a_chain_longer_than_the_stack() -> None:
    names = [f"n{number}" for number in range(3000)]
    known = nodes(n0="", **{name: before for before, name in pairwise(names)})
    assert order(known, names[-1]) == names


def test_a_circle() -> None:
    known = nodes(a="c", b="a", c="b", d="c")
    with pytest.raises(DatasetsInCircle) as refused:
        order(known, "d")
    assert {str(item) for item in refused.value.objects} == {str(dataset_id(name)) for name in "abc"}


def test_what_is_missing() -> None:
    known = nodes(top="left far", left="farther root", root="")
    found = missing_inputs(known, [dataset_id("top")])
    assert sorted(node.name for node in found) == ["far", "farther"]
