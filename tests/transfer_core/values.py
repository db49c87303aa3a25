"""Values that the tests of this folder share; hashes are those of small texts."""

from datetime import UTC, datetime

from odf_core.identity import ARROW0_SHA3_256, DatasetId, Multihash, ObjectKind, ObjectRef
from odf_core.limits import Limits
from odf_core.metadata import (
    AddData,
    Checkpoint,
    DatasetKind,
    DataSlice,
    MetadataBlock,
    OffsetInterval,
    Seed,
    StoredBlock,
    Timestamp,
    make_block,
)
from odf_core.transfer import TransferPlan, TransferUrl

LIMITS = Limits()

HEAD = Multihash.parse("f1620ddefce8d587c8db124a070a3283ecbca2662225f42350fa2d7dda2c12e3eea69")
TAIL = Multihash.parse("f1620c8ca0713321394e4ffbf57a338659597b1bbcfaf108697bd892218930c381870")
SLICE = ObjectRef(
    ObjectKind.DATA_SLICE,
    Multihash.parse("f162074fb0ec3841284e3cb7fa045b99125bc9eb487e1e13cec584bbdca582d98cb8f"),
    1202,
)
CHECKPOINT = ObjectRef(
    ObjectKind.CHECKPOINT,
    Multihash.parse("f1620d6753d3b655737bdc3fd76669580559ddcb788fa8ebb7ad53220ef1040bed833"),
    32,
)
DATASET = DatasetId(bytes(range(32)))
PLAN = TransferPlan(4, 2, 10, 2048, 1234)
LOCAL_URL = TransferUrl(
    f"http://127.0.0.1:8080/alice/foo/data/{SLICE.hash}",
    (("x-odf-smtp-version", "1"), ("authorization", "Bearer TOKEN")),
)
SIGNED_URL = TransferUrl(
    f"https://s3.example.org/bucket/{SLICE.hash}?X-Amz-Expires=3600",
    expires_at=datetime(2026, 11, 20, 23, 0, tzinfo=UTC),
)


def without_size(ref: ObjectRef) -> ObjectRef:
    """As the published dialect tells it."""
    return ObjectRef(ref.kind, ref.hash, None)


def raw_blocks(count: int, size: int = 40) -> list[tuple[Multihash, bytes]]:
    """Named bytes in the role of blocks: the archive does not look inside."""
    found = []
    for number in range(count):
        data = (f"block {number} " * size).encode()[:size]
        found.append((Multihash.sha3_256(data), data))
    return found


def chain() -> list[StoredBlock]:
    """A Seed and two AddData: 5 and 3 records, objects of 1202 and 32, and of 700 bytes."""
    seed = make_block(
        MetadataBlock(
            system_time=Timestamp.parse("2026-01-01T00:00:00Z"),
            prev_block_hash=None,
            sequence_number=0,
            event=Seed(dataset_id=DATASET, dataset_kind=DatasetKind.ROOT),
        )
    )
    first = _add_data(seed, 1, SLICE, 0, 4, CHECKPOINT)
    other = ObjectRef(ObjectKind.DATA_SLICE, Multihash.sha3_256(b"other"), 700)
    second = _add_data(first, 2, other, 5, 7, None)
    return [seed, first, second]


def _add_data(
    prev: StoredBlock, number: int, data: ObjectRef, start: int, end: int, checkpoint: ObjectRef | None
) -> StoredBlock:
    return make_block(
        MetadataBlock(
            system_time=Timestamp.parse(f"2026-01-0{number + 1}T00:00:00Z"),
            prev_block_hash=prev.hash,
            sequence_number=number,
            event=AddData(
                new_data=DataSlice(
                    logical_hash=Multihash(ARROW0_SHA3_256, bytes(32)),
                    physical_hash=data.hash,
                    offset_interval=OffsetInterval(start=start, end=end),
                    size=data.size or 0,
                ),
                new_checkpoint=None
                if checkpoint is None
                else Checkpoint(physical_hash=checkpoint.hash, size=checkpoint.size or 0),
            ),
        )
    )
