"""What verification asks of a dataset; `odf_core.storage.DatasetStore` is one."""

from contextlib import AbstractContextManager
from typing import Protocol

from odf_core.identity import Multihash, ObjectRef
from odf_core.storage import ObjectStream


class VerifiableDataset(Protocol):
    """Errors of the family `Unavailable` end a verification; what else is raised becomes a finding."""

    def head(self) -> Multihash | None: ...

    def read_block(self, block_hash: Multihash, /) -> bytes: ...

    def open_object(self, ref: ObjectRef, /) -> AbstractContextManager[ObjectStream]: ...
