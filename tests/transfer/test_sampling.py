"""Which slices of a push have their logical hash recomputed."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.settings import AdmissionSettings
from app.transfer.claims import Claim
from app.transfer.sampling import slices_to_hash
from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.metadata import OffsetInterval


def claims(records: list[int]) -> list[Claim]:
    """A slice with so many records for each number, and a checkpoint."""
    made: list[Any] = []
    for number, count in enumerate(records):
        ref = ObjectRef(ObjectKind.DATA_SLICE, Multihash.sha3_256(bytes([number])), 10)
        interval = OffsetInterval(start=7, end=7 + count - 1)
        made.append(SimpleNamespace(ref=ref, data_slice=SimpleNamespace(offset_interval=interval)))
    checkpoint = ObjectRef(ObjectKind.CHECKPOINT, Multihash.sha3_256(b"checkpoint"), 10)
    made.append(SimpleNamespace(ref=checkpoint, data_slice=None))
    return cast(list[Claim], made)


def settings(mode: str, rows: int = 100) -> AdmissionSettings:
    return AdmissionSettings.model_validate({"logical_hash": mode, "sample_rows": rows})


def test_off_and_on() -> None:
    pushed = claims([50] * 10)
    assert slices_to_hash(pushed, settings("off")) == frozenset()
    assert len(slices_to_hash(pushed, settings("on"))) == 10


def test_all_of_a_small_push() -> None:
    assert len(slices_to_hash(claims([50, 30, 20]), settings("sample"))) == 3


def test_of_a_large_push_as_many_as_are_allowed_each_time_others() -> None:
    pushed = claims([10] * 200)
    drawn = [slices_to_hash(pushed, settings("sample")) for _ in range(20)]
    assert {len(chosen) for chosen in drawn} == {10}
    assert len(set(drawn)) > 1


@pytest.mark.parametrize("rows", [0, 100])
def test_at_least_one(rows: int) -> None:
    assert len(slices_to_hash(claims([1000, 1000]), settings("sample", rows))) == 1


def test_nothing_to_choose_from() -> None:
    assert slices_to_hash(claims([]), settings("sample", 0)) == frozenset()
