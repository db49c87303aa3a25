"""The prose of the AsyncAPI documents."""

from collections.abc import Mapping

from odf_core.transfer.dialects.peer_errors import FAMILIES

FAMILY_SENTENCES: Mapping[str, str] = {
    name: (family.__doc__ or "").strip().splitlines()[0] for name, family in FAMILIES.items()
}
"""What each family of errors means to the caller."""

_DEPLOYED = """\
The encoding that deployed peers speak. A connection speaks it when the client offers no WebSocket
subprotocol; the node then names none either.

Each message is one JSON text without type or envelope: what it is follows from its place in the flow.
Integers are JSON integers, hashes multibase text, times RFC 3339; unknown fields are ignored. The
archive of blocks (a gzip-compressed tar with one regular entry per block, named by the block's hash,
oldest first) travels as an array of numbers from 0 to 255. Its entries, `num_blocks` of the batch and
`num_blocks` of the plan must agree. Pings, pongs and binary messages are not part of the protocol.

On a push, `{}` from the node while uploads run asks for progress. If `is_truncated` is true, a further
request for objects follows the report that the uploads are complete. The node never closes first on
success.

A chain whose archive does not fit one message is planned and sent as an older prefix; a further pull
continues behind it, and a pusher may do the same."""

_PUBLISHED = """\
The encoding that the specification publishes. A connection speaks it when the client offers the
subprotocol `odf/smart-transfer-protocol/v1`, which the node echoes.

Each message is one JSON text; what it is follows from its place in the flow, but for the error, which
may come anywhere and ends the session. Settled here where the published text leaves a choice: a pull
that is up to date is answered with `numBlocks` 0; `currentHead` is absent or null before the first
push; a dataset that a push creates is private; there is no force. While uploads run, the client may
ask for objects again (also for the same ones, to renew URLs) or complete the push. `headers` of a
transfer URL is an addition, sent only where a URL does not work without them. Archives are read as
`application/tar` and `application/tar+gzip`, written as `application/tar`."""

DESCRIPTIONS: Mapping[str, str] = {
    "deployed": _DEPLOYED,
    "published": _PUBLISHED,
    "deployed close": "An error while the client waits for an answer: the reason, at most 123 bytes, is an "
    "ErrorResponse that takes the place of the answer. A message that had to be cut ends with an ellipsis.",
    "published close": "Follows an error; the reason is the same error, cut to 123 bytes.",
}
"""Descriptions by name of dialect."""
