"""Object stores and the layout of datasets in them.

`odf_core.storage.s3` (boto3) is imported by those who use it: `open_store` does so when asked for a
bucket. `odf_core.storage.presign`, `staging` and `probe` hold what a node adds.
"""

from typing import TYPE_CHECKING

from odf_core.lazy import lazy_names

if TYPE_CHECKING:
    from odf_core.storage.dataset_store import DatasetStore, read_head
    from odf_core.storage.directory import DirectoryStore
    from odf_core.storage.errors import (
        BucketNotFound,
        InvalidHead,
        InvalidKey,
        InvalidRange,
        InvalidStoreUrl,
        InvalidUrlLifetime,
        ObjectHashMismatch,
        ObjectNotFound,
        ObjectSizeMismatch,
        StoreAccessDenied,
        StoredObjectTooLarge,
        StoreMisbehaved,
        StoreUnavailable,
    )
    from odf_core.storage.layout import (
        ALIAS_KEY,
        BLOCKS_PREFIX,
        HEAD_KEY,
        block_key,
        checkpoint_key,
        data_key,
        dataset_prefix,
        object_key,
        objects_prefix,
    )
    from odf_core.storage.memory import MemoryStore
    from odf_core.storage.opening import open_store
    from odf_core.storage.port import ClaimedObject, ObjectInfo, ObjectStore, ObjectStream, Readable
    from odf_core.storage.prefix import PrefixStore
    from odf_core.storage.s3_config import AddressingStyle, S3Config
    from odf_core.storage.staging import (
        STAGING_PREFIX,
        Swept,
        discard_session,
        ensure_staging,
        read_staging_key,
        session_prefix,
        staging_key,
        sweep,
    )
    from odf_core.storage.streams import hash_stream

__all__ = [
    "ObjectStore",
    "ObjectStream",
    "ObjectInfo",
    "ClaimedObject",
    "Readable",
    "DirectoryStore",
    "MemoryStore",
    "PrefixStore",
    "S3Config",
    "AddressingStyle",
    "open_store",
    "DatasetStore",
    "read_head",
    "HEAD_KEY",
    "ALIAS_KEY",
    "BLOCKS_PREFIX",
    "dataset_prefix",
    "block_key",
    "data_key",
    "checkpoint_key",
    "object_key",
    "objects_prefix",
    "STAGING_PREFIX",
    "staging_key",
    "session_prefix",
    "read_staging_key",
    "ensure_staging",
    "discard_session",
    "sweep",
    "Swept",
    "hash_stream",
    "ObjectNotFound",
    "InvalidKey",
    "InvalidRange",
    "InvalidStoreUrl",
    "InvalidUrlLifetime",
    "InvalidHead",
    "ObjectHashMismatch",
    "ObjectSizeMismatch",
    "StoredObjectTooLarge",
    "StoreUnavailable",
    "StoreMisbehaved",
    "StoreAccessDenied",
    "BucketNotFound",
]

__getattr__ = lazy_names(
    __name__,
    {
        "dataset_store": (
            "DatasetStore",
            "read_head",
        ),
        "directory": ("DirectoryStore",),
        "errors": (
            "BucketNotFound",
            "InvalidHead",
            "InvalidKey",
            "InvalidRange",
            "InvalidStoreUrl",
            "InvalidUrlLifetime",
            "ObjectHashMismatch",
            "ObjectNotFound",
            "ObjectSizeMismatch",
            "StoreAccessDenied",
            "StoredObjectTooLarge",
            "StoreMisbehaved",
            "StoreUnavailable",
        ),
        "layout": (
            "ALIAS_KEY",
            "BLOCKS_PREFIX",
            "HEAD_KEY",
            "block_key",
            "checkpoint_key",
            "data_key",
            "dataset_prefix",
            "object_key",
            "objects_prefix",
        ),
        "memory": ("MemoryStore",),
        "opening": ("open_store",),
        "port": (
            "ClaimedObject",
            "ObjectInfo",
            "ObjectStore",
            "ObjectStream",
            "Readable",
        ),
        "prefix": ("PrefixStore",),
        "s3_config": (
            "AddressingStyle",
            "S3Config",
        ),
        "staging": (
            "STAGING_PREFIX",
            "Swept",
            "discard_session",
            "ensure_staging",
            "read_staging_key",
            "session_prefix",
            "staging_key",
            "sweep",
        ),
        "streams": ("hash_stream",),
    },
)
