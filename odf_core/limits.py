"""Every bound on what a peer may send: a named, documented default.

`Limits` is passed to whatever reads foreign input; the node fills it from its settings
(`limits.*`, see docs/settings.md), the command line from its own. Sizes are bytes.
"""

from pydantic import BaseModel, ConfigDict, Field

KiB = 1024
MiB = 1024 * KiB
GiB = 1024 * MiB


class Limits(BaseModel):
    """Bounds on foreign input; each is applied while streaming, before memory is taken."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    message_bytes: int = Field(
        80 * MiB, gt=0, description="Largest WebSocket message (JSON text) that is read."
    )
    small_message_bytes: int = Field(
        4 * MiB, gt=0, description="Largest WebSocket message at a point where no block archive is due."
    )
    objects_message_bytes: int = Field(
        24 * MiB, gt=0, description="Largest WebSocket message at a point where a list of objects is due."
    )
    block_bytes: int = Field(8 * MiB, gt=0, description="Largest metadata block.")
    archive_compressed_bytes: int = Field(
        20 * MiB, gt=0, description="Largest compressed archive of blocks in one message."
    )
    archive_expanded_bytes: int = Field(
        512 * MiB, gt=0, description="Largest archive of blocks after decompression."
    )
    archive_entries: int = Field(200_000, gt=0, description="Most entries in an archive of blocks.")
    archive_ratio: int = Field(
        200, gt=0, description="Largest ratio of expanded to compressed bytes (checked past 1 MiB expanded)."
    )
    manifest_bytes: int = Field(8 * MiB, gt=0, description="Largest YAML or JSON manifest.")
    nesting_depth: int = Field(64, gt=0, description="Deepest nesting of tables, schemas and manifests.")
    object_bytes: int = Field(
        5 * GiB, gt=0, description="Largest data slice or checkpoint (S3 copies at most 5 GiB at once)."
    )
    objects_per_request: int = Field(100_000, gt=0, description="Most objects in one transfer request.")
    http_body_bytes: int = Field(1 * MiB, gt=0, description="Largest JSON body of an HTTP request or answer.")
    slice_footer_bytes: int = Field(8 * MiB, gt=0, description="Largest footer of a Parquet file.")
    slice_columns: int = Field(4096, gt=0, description="Most (leaf) columns of a Parquet file.")
    slice_row_groups: int = Field(32_768, gt=0, description="Most row groups of a Parquet file.")
    slice_column_chunks: int = Field(
        500_000, gt=0, description="Most column chunks (columns times row groups) of a Parquet file."
    )
    slice_page_bytes: int = Field(
        256 * MiB, gt=0, description="Largest page of a Parquet file, after decompression."
    )
    slice_pages: int = Field(2_000_000, gt=0, description="Most pages of a Parquet file.")
    slice_list_items: int = Field(
        50_000_000, gt=0, description="Most items of lists in one column chunk of a Parquet file."
    )
    slice_expanded_bytes: int = Field(
        64 * GiB, gt=0, description="Most bytes of a Parquet file's rows in memory, all batches together."
    )
    slice_rows: int = Field(2_000_000_000, gt=0, description="Most rows of a Parquet file.")
