"""The person's own signing key: ed25519, in a file that only its owner can read."""

import secrets
from pathlib import Path
from typing import ClassVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from odf_core.errors import InvalidInput
from odf_core.identity.did import KeyDid
from odf_core.transfer.client.durable import write_atomically
from odf_core.workspace.tokens import home_folder

_BYTES = 32


class SigningKeyInvalid(InvalidInput):
    """The file of the signing key has something else."""

    code: ClassVar[str] = "signing_key_invalid"


def own_key(path: Path | None = None) -> Ed25519PrivateKey:
    """The key; made with its first use. Raises `SigningKeyInvalid`."""
    path = path or home_folder() / "signing-key"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, secrets.token_bytes(_BYTES).hex().encode(), durable=True, mode=0o600)
    try:
        with path.open("rb") as file:
            seed = bytes.fromhex(file.read(4 * _BYTES).decode("ascii").strip())
        return Ed25519PrivateKey.from_private_bytes(seed)
    except (OSError, ValueError) as error:
        raise SigningKeyInvalid(
            f"{path} is no signing key: 64 hexadecimal digits that can be read. Mend it or remove it.",
            objects=[path],
        ) from error


def trusted_keys(path: Path | None = None) -> tuple[KeyDid, ...]:
    """Whose statements are believed here: the person's own, once there is a key.

    Raises `SigningKeyInvalid`.
    """
    path = path or home_folder() / "signing-key"
    return (did_of(own_key(path)),) if path.exists() else ()


def did_of(key: Ed25519PrivateKey) -> KeyDid:
    """Who signs with the key."""
    return KeyDid(key.public_key().public_bytes_raw())
