"""A store from its address."""

from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from odf_core.storage.directory import DirectoryStore
from odf_core.storage.errors import InvalidStoreUrl
from odf_core.storage.memory import MemoryStore
from odf_core.storage.port import ObjectStore
from odf_core.storage.prefix import PrefixStore
from odf_core.storage.s3_config import S3Config

_S3_PARAMETERS = {"endpoint", "region", "addressing_style"}


def open_store(address: str | Path | S3Config) -> ObjectStore:
    """The store at `address`; nothing is read or made yet. Raises `InvalidStoreUrl`.

    `file:///folder` or a path, `memory:`, `s3://bucket/prefix?endpoint=…&region=…&addressing_style=path`
    (credentials by boto3's usual chain), or an `S3Config`.
    """
    if isinstance(address, S3Config):
        return _s3(address)
    if isinstance(address, Path):
        return DirectoryStore(address)
    parts = urlsplit(address)
    if parts.scheme == "file" and parts.netloc in ("", "localhost") and parts.path:
        return DirectoryStore(unquote(parts.path))
    if parts.scheme == "memory" and not parts.netloc and not parts.path:
        return MemoryStore()
    if parts.scheme == "s3" and parts.netloc:
        return _s3_of(address)
    raise InvalidStoreUrl(
        f"{address!r} names no store: use file:///folder, memory: or s3://bucket/folder.", objects=[address]
    )


def _s3(config: S3Config) -> ObjectStore:
    from odf_core.storage.s3 import S3Store  # boto3 takes a third of a second to import

    return S3Store(config)


def _s3_of(address: str) -> ObjectStore:
    parts = urlsplit(address)
    parameters = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    style = parameters.get("addressing_style", "path" if "endpoint" in parameters else "virtual")
    if unknown := set(parameters) - _S3_PARAMETERS:
        raise InvalidStoreUrl(
            f"{address!r} has unknown parameters: {', '.join(sorted(unknown))}.", objects=[address]
        )
    if style not in ("path", "virtual") or parts.username or parts.port:
        raise InvalidStoreUrl(
            f"{address!r} is no address of a bucket: s3://bucket/folder?endpoint=…&region=…&"
            "addressing_style=path|virtual.",
            objects=[address],
        )
    store = _s3(
        S3Config(
            bucket=parts.netloc,
            endpoint=parameters.get("endpoint"),
            region=parameters.get("region", "us-east-1"),
            addressing_style="virtual" if style == "virtual" else "path",
        )
    )
    folder = unquote(parts.path).strip("/")
    return PrefixStore(store, f"{folder}/") if folder else store
