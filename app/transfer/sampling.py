"""Which slices of a push have their logical hash recomputed, as `admission.logical_hash` says.

Everything else is checked of every slice. The choice is random and made after the push has told all its
blocks, so a publisher cannot know which of his words will be tried.
"""

import random
from collections.abc import Iterable

from app.settings import AdmissionSettings
from app.transfer.claims import Claim
from app.transfer.object_urls import ObjectKey, key_of
from odf_core.metadata import DataSlice

_RANDOM = random.SystemRandom()


def slices_to_hash(claims: Iterable[Claim], settings: AdmissionSettings) -> frozenset[ObjectKey]:
    """None for `off`, all for `on`; for `sample` so many that they have at most `sample_rows` records, and
    at least one."""
    records = {
        key_of(claim.ref): _num_records(claim.data_slice) for claim in claims if claim.data_slice is not None
    }
    if settings.logical_hash == "off":
        return frozenset()
    if settings.logical_hash == "on" or sum(records.values()) <= settings.sample_rows:
        return frozenset(records)
    left = settings.sample_rows
    chosen: set[ObjectKey] = set()
    for key in _RANDOM.sample(list(records), len(records)):
        if records[key] <= left or not chosen:
            chosen.add(key)
            left -= records[key]
    return frozenset(chosen)


def _num_records(data_slice: DataSlice) -> int:
    interval = data_slice.offset_interval
    return interval.end - interval.start + 1
