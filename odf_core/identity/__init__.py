"""Identity: hashes, identifiers, names and references, in text and bytes (metadata.md 3 and 7)."""

from odf_core.identity.did import AccountId, DatasetId, PkhAccountId, parse_account_id
from odf_core.identity.errors import (
    InvalidDid,
    InvalidMultibase,
    InvalidMultihash,
    InvalidName,
    InvalidReference,
    InvalidVarint,
    UnknownMulticodec,
)
from odf_core.identity.multibase import multibase_decode, multibase_encode
from odf_core.identity.multicodec import (
    ARROW0_SHA3_256,
    ED25519_PUB,
    ODF_METADATA_BLOCK,
    SHA2_256,
    SHA3_256,
)
from odf_core.identity.multihash import Multihash
from odf_core.identity.names import AccountName, DatasetName, RepoName
from odf_core.identity.objects import ObjectKind, ObjectRef
from odf_core.identity.patterns import DatasetAliasPattern, DatasetNamePattern, parse_dataset_ref_pattern
from odf_core.identity.references import (
    AmbiguousAlias,
    DatasetAlias,
    DatasetAliasRemote,
    DatasetIdRemote,
    DatasetUrl,
    parse_dataset_ref,
    parse_dataset_ref_any,
    parse_dataset_ref_remote,
    split_dataset_ref_any,
)
from odf_core.identity.varint import decode_varint, encode_varint

__all__ = [
    "Multihash",
    "multibase_decode",
    "multibase_encode",
    "decode_varint",
    "encode_varint",
    "SHA2_256",
    "SHA3_256",
    "ED25519_PUB",
    "ARROW0_SHA3_256",
    "ODF_METADATA_BLOCK",
    "DatasetId",
    "AccountId",
    "PkhAccountId",
    "parse_account_id",
    "DatasetName",
    "AccountName",
    "RepoName",
    "DatasetAlias",
    "DatasetAliasRemote",
    "DatasetIdRemote",
    "DatasetUrl",
    "AmbiguousAlias",
    "parse_dataset_ref",
    "parse_dataset_ref_remote",
    "parse_dataset_ref_any",
    "split_dataset_ref_any",
    "DatasetNamePattern",
    "DatasetAliasPattern",
    "parse_dataset_ref_pattern",
    "ObjectKind",
    "ObjectRef",
    "InvalidMultibase",
    "InvalidVarint",
    "InvalidMultihash",
    "UnknownMulticodec",
    "InvalidDid",
    "InvalidName",
    "InvalidReference",
]
