"""Small objects as bytes, with a bound on what is taken into memory."""

from odf_core.storage.errors import StoredObjectTooLarge
from odf_core.storage.port import ObjectStream


def read_whole(stream: ObjectStream, key: str, max_bytes: int) -> bytes:
    """All of `stream`, whose object has `max_bytes` at most. Raises `StoredObjectTooLarge`."""
    if stream.size > max_bytes:
        raise StoredObjectTooLarge(
            f"{key} has {stream.size} bytes, more than the {max_bytes} that are read at once.",
            objects=[key],
            extras={"size": stream.size, "limit": max_bytes},
        )
    return stream.read()
