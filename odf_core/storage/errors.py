"""Errors of object stores: what was asked for, what is there, and whether the store answers at all."""

from typing import ClassVar

from odf_core.errors import AccessDenied, IntegrityError, InvalidInput, LimitExceeded, NotFound, Unavailable


class ObjectNotFound(NotFound):
    """There is no object under the key."""

    code: ClassVar[str] = "object_not_found"


class InvalidKey(InvalidInput):
    """A key that no store accepts, or that would lead out of this one."""

    code: ClassVar[str] = "invalid_object_key"


class InvalidRange(InvalidInput):
    """A part that the object does not have."""

    code: ClassVar[str] = "invalid_object_range"


class InvalidStoreUrl(InvalidInput):
    """An address that names no store this program knows."""

    code: ClassVar[str] = "invalid_store_url"


class InvalidUrlLifetime(InvalidInput):
    """A presigned URL may live from one second to seven days."""

    code: ClassVar[str] = "invalid_url_lifetime"


class StoredObjectTooLarge(LimitExceeded):
    """The object is larger than the caller wants to hold in memory."""

    code: ClassVar[str] = "stored_object_too_large"


class ObjectHashMismatch(IntegrityError):
    """The bytes do not have the hash that they were announced or stored under."""

    code: ClassVar[str] = "object_hash_mismatch"


class ObjectSizeMismatch(IntegrityError):
    """There are more or fewer bytes than were announced."""

    code: ClassVar[str] = "object_size_mismatch"


class InvalidHead(IntegrityError):
    """`refs/head` holds something else than the 69 ASCII characters of a block hash (metadata.md 4)."""

    code: ClassVar[str] = "invalid_head"


class StoreUnavailable(Unavailable):
    """The store does not answer, breaks off, or has no room; the same call may succeed later."""

    code: ClassVar[str] = "store_unavailable"


class StoreMisbehaved(Unavailable):
    """The store answered something that the request did not ask for, such as another part."""

    code: ClassVar[str] = "store_misbehaved"


class BucketNotFound(Unavailable):
    """The bucket of the settings does not exist on the server of the settings."""

    code: ClassVar[str] = "bucket_not_found"


class StoreAccessDenied(AccessDenied):
    """The store does not accept *this program's* credentials; no fault of who is served by it."""

    code: ClassVar[str] = "store_access_denied"
