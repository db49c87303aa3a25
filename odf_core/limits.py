"""Every bound on what a peer may send: a named, documented default.

`Limits` is passed to whatever reads foreign input; the node fills it from its settings
(`limits.*`, see docs/settings.md), the command line from its own. Sizes are bytes.
"""

from dataclasses import dataclass, field, fields

KiB = 1024
MiB = 1024 * KiB
GiB = 1024 * MiB


def _bound(default: int, *, description: str) -> int:
    bound: int = field(default=default, metadata={"description": description})
    return bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on foreign input; each is applied while streaming, before memory is taken."""

    message_bytes: int = _bound(80 * MiB, description="Largest WebSocket message (JSON text) that is read.")
    small_message_bytes: int = _bound(
        4 * MiB, description="Largest WebSocket message at a point where no block archive is due."
    )
    objects_message_bytes: int = _bound(
        24 * MiB, description="Largest WebSocket message at a point where a list of objects is due."
    )
    block_bytes: int = _bound(8 * MiB, description="Largest metadata block.")
    archive_compressed_bytes: int = _bound(
        20 * MiB, description="Largest compressed archive of blocks in one message."
    )
    archive_expanded_bytes: int = _bound(
        512 * MiB, description="Largest archive of blocks after decompression."
    )
    archive_entries: int = _bound(200_000, description="Most entries in an archive of blocks.")
    archive_ratio: int = _bound(
        200, description="Largest ratio of expanded to compressed bytes (checked past 1 MiB expanded)."
    )
    manifest_bytes: int = _bound(8 * MiB, description="Largest YAML or JSON manifest.")
    nesting_depth: int = _bound(64, description="Deepest nesting of tables, schemas and manifests.")
    object_bytes: int = _bound(
        5 * GiB, description="Largest data slice or checkpoint (S3 copies at most 5 GiB at once)."
    )
    objects_per_request: int = _bound(100_000, description="Most objects in one transfer request.")
    http_body_bytes: int = _bound(1 * MiB, description="Largest JSON body of an HTTP request or answer.")
    slice_footer_bytes: int = _bound(8 * MiB, description="Largest footer of a Parquet file.")
    slice_columns: int = _bound(4096, description="Most (leaf) columns of a Parquet file.")
    slice_row_groups: int = _bound(32_768, description="Most row groups of a Parquet file.")
    slice_column_chunks: int = _bound(
        500_000, description="Most column chunks (columns times row groups) of a Parquet file."
    )
    slice_page_bytes: int = _bound(
        256 * MiB, description="Largest page of a Parquet file, after decompression."
    )
    slice_pages: int = _bound(2_000_000, description="Most pages of a Parquet file.")
    slice_list_items: int = _bound(
        50_000_000, description="Most items of lists in one column chunk of a Parquet file."
    )
    slice_expanded_bytes: int = _bound(
        64 * GiB, description="Most bytes of a Parquet file's rows in memory, all batches together."
    )
    slice_rows: int = _bound(2_000_000_000, description="Most rows of a Parquet file.")

    def __post_init__(self) -> None:
        for item in fields(self):
            if getattr(self, item.name) <= 0:
                raise ValueError(f"{item.name} has to be positive")
