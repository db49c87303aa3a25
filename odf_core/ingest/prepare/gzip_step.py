"""`decompress` of gzip: one member or several, whole to the last byte."""

from pathlib import Path

from odf_core.ingest.errors import ArchiveDamaged
from odf_core.ingest.gunzip import GzipBroken, Inflater
from odf_core.ingest.prepare.options import PrepareContext
from odf_core.ingest.prepare.sink import sink


def gunzip(path: Path, context: PrepareContext) -> Path:
    """A new file with what `path` decompresses to. Raises `ArchiveDamaged`, `PreparedTooLarge`."""
    size = context.options.chunk_bytes
    inflater = Inflater(chunk_bytes=size)
    try:
        with path.open("rb") as source, sink("The gzip input", context) as out:
            while data := source.read(size):
                for piece in inflater.feed(data):
                    out.write(piece, lambda: inflater.taken)
            inflater.finish()
    except GzipBroken as error:
        raise ArchiveDamaged(
            f"The input cannot be decompressed as gzip: {error}. Fetch or send it again, or correct the "
            "`decompress` step."
        ) from error
    return out.path
