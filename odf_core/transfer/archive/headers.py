"""The 512-byte header of a tar entry: written from a template, read with suspicion (wire.md 3.3).

Python's `tarfile` needs ten times as long for both (stack.md 5).
"""

from odf_core.identity import SHA3_256, InvalidMultihash, Multihash
from odf_core.transfer.archive.errors import ArchiveCorrupt, ArchiveEntryName, ArchiveEntryType
from odf_core.transfer.errors import UnknownHashCode

BLOCK = 512
ZEROS = bytes(BLOCK)
END_MARK = bytes(2 * BLOCK)

_NAME = slice(0, 100)
_SIZE = slice(124, 136)
_CHECKSUM = slice(148, 156)
_TYPE = 156
_PREFIX = 345
_REGULAR = (0, ord("0"))

_TYPE_NAMES = {
    "1": "a hard link",
    "2": "a symbolic link",
    "3": "a character device",
    "4": "a block device",
    "5": "a folder",
    "6": "a pipe",
    "L": "a GNU long name",
    "K": "a GNU long link",
    "S": "a GNU sparse file",
    "x": "a pax header",
    "g": "a global pax header",
}

# mode 0644, owner and group 0; the time is always 0, so that the same blocks give the same bytes.
_OWNER = b"0000644\x00" + 2 * b"0000000\x00"
_TIME = b"00000000000\x00"
_TAIL = (b"0" + bytes(100) + b"ustar\x0000").ljust(BLOCK - _TYPE, b"\x00")
_FIXED_SUM = sum(_OWNER) + sum(_TIME) + sum(_TAIL) + 8 * ord(" ")


def padding(size: int) -> bytes:
    """Zeros that fill an entry of `size` bytes up to a multiple of 512."""
    return ZEROS[: -size % BLOCK]


def entry_size(size: int) -> int:
    """Bytes that an entry of `size` bytes takes in a tar: header, content, padding."""
    return BLOCK + size + -size % BLOCK


def write_header(block_hash: Multihash, size: int) -> bytes:
    """Header of a regular ustar entry named with the base16 text of `block_hash`."""
    name = str(block_hash).encode("ascii")
    digits = b"%011o\x00" % size
    checksum = b"%06o\x00 " % (_FIXED_SUM + sum(name) + sum(digits))
    return b"".join((name.ljust(100, b"\x00"), _OWNER, digits, _TIME, checksum, _TAIL))


def read_header(header: bytes) -> tuple[Multihash, int]:
    """Hash and size of the entry that a header of 512 bytes announces.

    Raises ArchiveCorrupt (checksum, numbers), ArchiveEntryType (anything but a regular file; so no
    GNU or pax long name comes into play), ArchiveEntryName, UnknownHashCode.
    """
    stored = _octal(header[_CHECKSUM], "checksum")
    if sum(header) - sum(header[_CHECKSUM]) + 8 * ord(" ") != stored:
        raise ArchiveCorrupt("A tar header of the archive has a wrong checksum.")
    if header[_TYPE] not in _REGULAR:
        kind = chr(header[_TYPE])
        raise ArchiveEntryType(
            f"An entry of the archive is {_TYPE_NAMES.get(kind, f'of type {kind!r}')}; "
            "only regular files, one for each block, are read."
        )
    return _entry_name(header), _octal(header[_SIZE], "size")


def _entry_name(header: bytes) -> Multihash:
    text, _, rest = header[_NAME].partition(b"\x00")
    # A prefix (or the times that GNU keeps there) would make the name another one than it looks.
    if rest.strip(b"\x00") or header[_PREFIX]:
        raise ArchiveEntryName(f"An entry's name has hidden parts: {text!r}.", objects=[repr(text)])
    try:
        block_hash = Multihash.parse(text.decode("ascii"))
    except (InvalidMultihash, UnicodeDecodeError) as error:
        raise ArchiveEntryName(
            f"An entry of the archive is named {text!r}, which is not the hash of a block.",
            objects=[repr(text)],
        ) from error
    if block_hash.code != SHA3_256:
        raise UnknownHashCode(
            f"An archive entry is named by a hash of code 0x{block_hash.code:x}; blocks have SHA3-256.",
            objects=[block_hash],
        )
    return block_hash


def _octal(field: bytes, what: str) -> int:
    digits = field.strip(b" \x00")
    # isdigit also keeps out GNU's base-256 numbers, signs and underscores.
    if digits.isdigit() and not digits.strip(b"01234567"):
        return int(digits, 8)
    raise ArchiveCorrupt(f"A tar header of the archive has a {what} that is not an octal number.")
