"""Keys: '/'-separated relative names, the same rules for every store.

A segment that begins with '.' makes a key *hidden*: it can be written and read, but never listed
(metadata.md 4: names beginning with '.' are ignored). Names of unfinished writes are no keys at all.
"""

import re

from odf_core.storage.errors import InvalidKey

PENDING = ".pending-"
_UNFINISHED = (PENDING, ".rclone_temp_")
_MAX_KEY_BYTES = 1024  # S3's bound
_MAX_SEGMENT_BYTES = 200  # file systems end at 255; what a store appends has to fit
_PLAIN_SEGMENT = r"[A-Za-z0-9_~-][A-Za-z0-9_.~-]{0,199}"
_PLAIN_KEY = re.compile(rf"(?:{_PLAIN_SEGMENT}/){{0,4}}{_PLAIN_SEGMENT}")


def check_key(key: str) -> str:
    """`key`, if every store accepts it. Raises `InvalidKey`."""
    if is_plain(key):
        return key
    segments = key.split("/")
    for segment in segments:
        if segment in ("", ".", ".."):
            raise _invalid(key, "it has an empty, '.' or '..' segment")
        if segment.startswith(_UNFINISHED):
            raise _invalid(key, "its name is kept for unfinished writes")
        if len(segment.encode(errors="replace")) > _MAX_SEGMENT_BYTES:
            raise _invalid(key, f"a segment is longer than {_MAX_SEGMENT_BYTES} bytes")
    _check_characters(key)
    return key


def check_prefix(prefix: str) -> str:
    """`prefix`, the beginning of keys ('' for all). Raises `InvalidKey`."""
    if any(segment in ("", ".", "..") for segment in prefix.split("/")[:-1]):
        raise _invalid(prefix, "it has an empty, '.' or '..' segment")
    _check_characters(prefix)
    return prefix


def check_folder(prefix: str) -> str:
    """`prefix`, which has to be '' or to end in '/'. Raises `InvalidKey`."""
    if prefix and not prefix.endswith("/"):
        raise _invalid(prefix, "it is no folder, which would end in '/'")
    return check_prefix(prefix)


def is_plain(key: str) -> bool:
    """True for keys of the usual form: good for every store, and the same in a URL."""
    return _PLAIN_KEY.fullmatch(key) is not None


def is_hidden(key: str) -> bool:
    """True for keys that listings leave out."""
    return key.startswith(".") or "/." in key


def _check_characters(key: str) -> None:
    if "\\" in key or any(ord(character) < 0x20 or ord(character) == 0x7F for character in key):
        raise _invalid(key, "it has a backslash or a control character")
    try:
        size = len(key.encode())
    except UnicodeEncodeError as error:
        raise _invalid(key, "it is not Unicode text") from error
    if size > _MAX_KEY_BYTES:
        raise _invalid(key, f"it is longer than {_MAX_KEY_BYTES} bytes")


def _invalid(key: str, reason: str) -> InvalidKey:
    shown = repr(key[:200])
    return InvalidKey(f"{shown} cannot be the key of an object: {reason}.", objects=[shown])
