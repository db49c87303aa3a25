"""Errors of datasets as they are addressed and read."""

from typing import ClassVar

from odf_core.errors import AccessDenied, Conflict, IntegrityError, InvalidInput, NotFound


class InvalidDatasetAddress(InvalidInput):
    """The path names no dataset: an account's or dataset's name breaks the grammar."""

    code: ClassVar[str] = "invalid_dataset_address"


class InvalidHashInPath(InvalidInput):
    """The last part of the path is no multihash."""

    code: ClassVar[str] = "invalid_hash_in_path"


class DatasetNotFound(NotFound):
    """No such dataset, or none that the caller may know of; both look the same."""

    code: ClassVar[str] = "dataset_not_found"


class DatasetIdNotFound(NotFound):
    """As `DatasetNotFound`, where the dataset was asked for by its id."""

    code: ClassVar[str] = "dataset_id_not_found"


class DatasetForbidden(AccessDenied):
    """The caller may read this dataset, but not do this."""

    code: ClassVar[str] = "dataset_forbidden"


class DatasetIsMirror(Conflict):
    """A commit to a dataset that follows one of another node."""

    code: ClassVar[str] = "dataset_is_mirror"


class RefNotFound(NotFound):
    """The dataset has no reference of this name."""

    code: ClassVar[str] = "ref_not_found"


class BlockNotFound(NotFound):
    """The dataset has no block of this hash."""

    code: ClassVar[str] = "block_not_found"


class DatasetObjectNotFound(NotFound):
    """The dataset has no slice or checkpoint of this hash."""

    code: ClassVar[str] = "dataset_object_not_found"


class StoredObjectChanged(IntegrityError):
    """What lies in the bucket has another size than what was admitted."""

    code: ClassVar[str] = "stored_object_changed"


class RangeNotSatisfiable(InvalidInput):
    """The requested range starts after the last byte."""

    code: ClassVar[str] = "range_not_satisfiable"

    def __init__(self, size: int) -> None:
        super().__init__(f"The range starts after the last of the {size} bytes.")
        self.http_headers = {"content-range": f"bytes */{size}"}
