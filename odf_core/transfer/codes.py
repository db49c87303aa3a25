"""The codes of errors that can reach a peer, by family: a promise, never renamed.

They stand in the published dialect's `errorCode` and first in the deployed dialect's `error_message`;
the AsyncAPI documents list them, and a client finds the family of a code here. A test holds this table
against the leaves in the code.
"""

from collections.abc import Mapping
from types import MappingProxyType

_BY_FAMILY: Mapping[str, tuple[str, ...]] = {
    "invalid_input": (
        "archive_corrupt",
        "archive_duplicate_entry",
        "archive_entry_name",
        "archive_entry_type",
        "archive_multi_member",
        "archive_trailing_data",
        "archive_truncated",
        "digest_schema_mismatch",
        "empty_push",
        "invalid_data_file",
        "invalid_did",
        "invalid_input",
        "invalid_extra_attributes",
        "invalid_multibase",
        "invalid_multihash",
        "invalid_name",
        "invalid_raw_arrow_schema",
        "invalid_timestamp",
        "invalid_varint",
        "legacy_block",
        "malformed_block",
        "missing_inputs",
        "objects_undeclared",
        "obsolete_manifest_version",
        "unknown_hash_code",
        "unknown_multicodec",
        "unsupported_arrow_type",
        "unsupported_logical_hash_type",
        "unsupported_manifest_version",
        "unsupported_media_type",
        "unsupported_member",
    ),
    "limit": (
        "archive_block_too_large",
        "archive_entry_too_large",
        "archive_ratio",
        "archive_too_large",
        "archive_too_many_entries",
        "block_too_large",
        "data_file_limit_exceeded",
        "limit_exceeded",
        "message_too_large",
        "nesting_too_deep",
        "too_many_blocks",
        "too_many_objects",
    ),
    "integrity": (
        "batch_count_mismatch",
        "block_hash_mismatch",
        "integrity_error",
        "logical_hash_mismatch",
        "slice_offsets_mismatch",
        "slice_rows_mismatch",
        "slice_schema_mismatch",
        "slice_size_mismatch",
        "slice_unreadable",
        "unexpected_block_hash",
    ),
    "chain": (
        "chain_violation",
        "first_block_must_be_seed",
        "invalid_event",
        "no_op_event",
        "offsets_not_sequential",
        "prev_block_not_found",
        "second_seed",
        "seed_on_nonempty_chain",
        "sequence_broken",
        "system_time_not_monotonic",
        "watermark_not_monotonic",
    ),
    "not_found": ("not_found", "objects_missing"),
    "access": ("access_denied",),
    "conflict": (
        "conflict",
        "dataset_id_mismatch",
        "diverged",
        "head_is_elsewhere",
        "head_moved",
        "invalid_interval",
        "name_collision",
        "ref_collision",
        "seed_overwrite_restricted",
    ),
    "protocol": (
        "binary_frame",
        "malformed_message",
        "protocol_violation",
        "unexpected_message",
        "unsupported_subprotocol",
    ),
    "unavailable": ("session_expired", "unavailable"),
    "unknown": ("outcome_unknown",),
    "internal": ("internal_error", "invalid_key_blocks", "session_misuse"),
}

PEER_CODES: Mapping[str, str] = MappingProxyType(
    {code: family for family, codes in _BY_FAMILY.items() for code in codes}
)
"""Family by code."""
