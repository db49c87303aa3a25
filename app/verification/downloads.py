"""Objects of the bucket as files, for a replay outside a worker."""

from pathlib import Path

from odf_core.identity import DatasetId, ObjectRef
from odf_core.storage import ObjectStore, dataset_prefix, object_key

_PIECE_BYTES = 1 << 20


def download_object(store: ObjectStore, folder: Path, dataset_id: DatasetId, ref: ObjectRef) -> Path:
    """The file of an object in `folder`, not hashed. Raises `ObjectNotFound`, `StoreUnavailable`."""
    path = folder / f"{ref.kind.value}-{ref.hash}"
    if not path.is_file():
        draft = path.with_suffix(".draft")
        with store.open(dataset_prefix(dataset_id) + object_key(ref)) as stream, draft.open("wb") as file:
            while piece := stream.read(_PIECE_BYTES):
                file.write(piece)
        draft.replace(path)
    return path
