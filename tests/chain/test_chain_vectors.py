"""The golden chains: each step of each scenario gets the verdict of the deployed implementation."""

import json

import pytest

from odf_core.chain import BlockRefused, ChainState
from odf_core.identity import Multihash
from odf_core.metadata import block_from_json, make_block
from tests.vectors import require_vectors, vectors_dir

OUR_VERDICTS = {"Panic": "InvalidEvent"}
"""Disabling a source that is not active: the deployed implementation panics, we refuse."""


def _scenarios():
    if vectors_dir() is None:
        return []
    return json.loads(require_vectors("metadata/chain_validation.json").read_text())["scenarios"]


def test_vectors_are_at_hand():
    require_vectors("metadata/chain_validation.json")


@pytest.mark.parametrize("scenario", _scenarios(), ids=lambda scenario: scenario["name"])
def test_scenario(scenario):
    state = ChainState()
    for step in scenario["steps"]:
        block = _block(state, step)
        before = state.head
        try:
            state.append(block)
            verdict = "ok"
        except BlockRefused as error:
            verdict = error.variant
        assert verdict == OUR_VERDICTS.get(step["expect"], step["expect"])
        if verdict == "ok":
            assert str(state.head) == step["blockHashV3"]
        else:
            assert state.head == before


def _block(state, step):
    number = 0 if state.sequence_number is None else state.sequence_number + 1
    content = {
        "systemTime": step.get("systemTime", "2050-01-01T12:00:00Z"),
        "prevBlockHash": step["prev"] if "prev" in step else state.head and str(state.head),
        "sequenceNumber": step.get("sequenceNumber", number),
        "event": step["event"],
    }
    if content["prevBlockHash"] is None:
        del content["prevBlockHash"]
    decoded = block_from_json({"kind": "MetadataBlock", "version": 3, "content": content})
    return make_block(decoded.block, 3)


def test_an_unexpected_hash_is_refused():
    """Rule 37, which the scenarios leave to the caller."""
    if not (scenarios := _scenarios()):
        pytest.skip("golden vectors are not beside this checkout")
    state = ChainState()
    block = _block(state, scenarios[0]["steps"][0])
    with pytest.raises(BlockRefused) as caught:
        state.append(block, expected_hash=Multihash.sha3_256(b"other"))
    assert caught.value.variant == "HashMismatch"
    assert state.head is None
    state.append(block, expected_hash=block.hash)
