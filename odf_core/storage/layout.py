"""Where the parts of a dataset lie below its prefix (metadata.md 4). Keys are relative to the dataset."""

from odf_core.identity import DatasetId, Multihash, ObjectKind, ObjectRef

HEAD_KEY = "refs/head"
ALIAS_KEY = "info/alias"
BLOCKS_PREFIX = "blocks/"
_FOLDERS = {ObjectKind.DATA_SLICE: "data/", ObjectKind.CHECKPOINT: "checkpoints/"}


def dataset_prefix(dataset_id: DatasetId) -> str:
    """`fed01…/`: the folder of a dataset in a store that holds many."""
    return f"{dataset_id.multibase}/"


def block_key(block_hash: Multihash) -> str:
    return f"{BLOCKS_PREFIX}{block_hash}"


def data_key(physical_hash: Multihash) -> str:
    return f"data/{physical_hash}"


def checkpoint_key(physical_hash: Multihash) -> str:
    return f"checkpoints/{physical_hash}"


def object_key(ref: ObjectRef) -> str:
    """`data/f1620…` or `checkpoints/f1620…`."""
    return f"{_FOLDERS[ref.kind]}{ref.hash}"


def objects_prefix(kind: ObjectKind) -> str:
    """`data/` or `checkpoints/`."""
    return _FOLDERS[kind]
