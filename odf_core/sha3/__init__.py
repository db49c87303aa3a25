"""SHA3-256 of many streams at once: what hashlib gives, several times as fast.

`new_sha3` makes a hasher, `update_all` feeds several; `update` of hashers in different threads is combined
by itself. Why this exists: docs/adr/0007-hashing-many-streams.md.
"""

from odf_core.sha3.hashers import WORTH_A_KERNEL_BYTES, Hasher, are_combined, new_sha3, update_all

__all__ = ["Hasher", "new_sha3", "are_combined", "update_all", "WORTH_A_KERNEL_BYTES"]
