"""Local files of objects that are believed only once their bytes have their names."""

import threading
from pathlib import Path

from odf_core.data import physical_hash_file
from odf_core.identity import DatasetId, ObjectRef
from odf_core.storage import ObjectHashMismatch, ObjectNotFound, ObjectSizeMismatch
from odf_core.transform.execute import Locate


class CheckedFiles:
    """A `Locate` over another: each object is hashed once, before its first use; threads may share it."""

    def __init__(self, locate: Locate) -> None:
        self._locate = locate
        self._known: set[tuple[DatasetId, ObjectRef]] = set()
        self._lock = threading.Lock()

    def __call__(self, dataset_id: DatasetId, ref: ObjectRef) -> Path:
        """Raises `ObjectNotFound`, `ObjectSizeMismatch`, `ObjectHashMismatch`, and as `locate` does."""
        path = self._locate(dataset_id, ref)
        with self._lock:
            if (dataset_id, ref) in self._known:
                return path
        self._check(path, ref)
        with self._lock:
            self._known.add((dataset_id, ref))
        return path

    def _check(self, path: Path, ref: ObjectRef) -> None:
        if not path.is_file():
            raise ObjectNotFound(f"{ref} is not there.", objects=[ref.hash])
        size = path.stat().st_size
        if size != ref.size:
            raise ObjectSizeMismatch(
                f"{ref} has {size} bytes, but its block declares {ref.size}.",
                objects=[ref.hash],
                extras={"declared": ref.size, "actual": size},
            )
        found = physical_hash_file(path)
        if found != ref.hash:
            raise ObjectHashMismatch(
                f"{ref} has other bytes than its name says: their hash is {found}.",
                objects=[ref.hash],
                extras={"declared": str(ref.hash), "actual": str(found)},
            )
