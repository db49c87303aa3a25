"""Bounds on what a source may send and how long it may take."""

from dataclasses import dataclass
from pathlib import Path

from odf_core.limits import GiB, KiB, MiB


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """Bounds of a fetch, applied while streaming. Sizes are bytes, times are seconds.

    `max_bytes` bounds what comes over a network or out of a container, after a content encoding is
    undone; `max_file_bytes` bounds files of this machine, which are used where they lie. `max_encoding_ratio`
    bounds how much larger a compressed answer may become (checked past `ratio_free_bytes`).
    `read_timeout` is the longest silence, `total_timeout` the longest a fetch takes altogether, from
    the first connection to the last byte. `tls_ca_file` replaces the machine's certificate authorities.
    """

    max_bytes: int = GiB
    max_file_bytes: int = 64 * GiB
    connect_timeout: float = 30.0
    read_timeout: float = 60.0
    total_timeout: float = 3600.0
    max_redirects: int = 10
    max_header_bytes: int = 64 * KiB
    max_encoding_ratio: int = 500
    ratio_free_bytes: int = 64 * MiB
    chunk_bytes: int = 256 * KiB
    max_glob_files: int = 1_000_000
    max_path_chars: int = 4096
    mqtt_max_records: int = 10_000
    mqtt_idle_timeout: float = 1.0
    container_batch_size: int = 10_000
    container_runtimes: tuple[str, ...] = ("docker", "podman")
    tls_ca_file: Path | None = None
