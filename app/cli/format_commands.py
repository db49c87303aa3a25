"""`odf block` and `odf hash`: for people who work on the formats."""

import sys
from typing import Annotated

import typer

from app.cli.files import File
from app.cli.output import ManifestFormat, ManifestOutput, Output, OutputFormat, write_json, write_record

block = typer.Typer(name="block", help="Metadata blocks as files.", no_args_is_help=True)
hashes = typer.Typer(name="hash", help="Hashes of data files.", no_args_is_help=True)

Version = Annotated[
    int | None,
    typer.Option(
        "--manifest-version",
        min=2,
        max=3,
        help="Version of the bytes; default: the one that the manifest says.",
    ),
]


@block.command("decode")
def decode(file: File, output: ManifestOutput = ManifestFormat.YAML) -> None:
    """Print a block as manifest: kind, version and content."""
    from app.cli.files import read_file
    from odf_core.limits import Limits
    from odf_core.metadata import block_to_json, decode_block, dump_yaml

    limits = Limits()
    manifest = block_to_json(decode_block(read_file(file, limits.block_bytes), limits))
    if output is ManifestFormat.JSON:
        write_json(manifest)
    else:
        sys.stdout.write(dump_yaml(manifest))


@block.command("encode")
def encode(file: File, manifest_version: Version = None) -> None:
    """Write the canonical bytes of a block to standard output.

    FILE is a manifest in YAML or JSON, as `odf block decode` prints it, or only its content.
    """
    from app.cli.files import read_file
    from odf_core.limits import Limits
    from odf_core.metadata import DEFAULT_MANIFEST_VERSION, block_from_json, encode_block, load_manifest

    limits = Limits()
    manifest = load_manifest(read_file(file, limits.manifest_bytes), limits)
    if isinstance(manifest, dict) and "kind" not in manifest and "event" in manifest:
        manifest = {"kind": "MetadataBlock", "version": DEFAULT_MANIFEST_VERSION, "content": manifest}
    decoded = block_from_json(manifest, limits)
    data = encode_block(decoded.block, manifest_version or decoded.version)
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


@block.command("hash")
def block_hash(file: File, output: Output = OutputFormat.TABLE) -> None:
    """Print the hash of a block, which is its name."""
    from app.cli.files import read_file
    from app.cli.formats import hash_of_block
    from odf_core.limits import Limits

    limits = Limits()
    found = hash_of_block(read_file(file, limits.block_bytes), limits)
    write_record({"blockHash": str(found)}, output, sentence=str(found))


@hashes.command("physical")
def physical(file: File, output: Output = OutputFormat.TABLE) -> None:
    """Print the SHA3-256 of a file of any kind."""
    import hashlib

    from app.cli.files import open_file
    from odf_core.identity import SHA3_256, Multihash

    hasher = hashlib.sha3_256()
    with open_file(file) as stream:
        while chunk := stream.read(1024 * 1024):
            hasher.update(chunk)
    found = Multihash(SHA3_256, hasher.digest())
    write_record({"physicalHash": str(found)}, output, sentence=str(found))


@hashes.command("logical")
def logical(file: File, output: Output = OutputFormat.TABLE) -> None:
    """Print the logical hash of a Parquet or Arrow IPC file."""
    import shutil
    import tempfile

    from app.cli.files import STDIN, open_file
    from odf_core.data import logical_hash_file

    with open_file(file) as stream:
        if file == STDIN:
            with tempfile.TemporaryFile() as copy:
                shutil.copyfileobj(stream, copy)
                copy.seek(0)
                found = logical_hash_file(copy)
        else:
            found = logical_hash_file(stream)
    write_record({"logicalHash": str(found)}, output, sentence=str(found))
