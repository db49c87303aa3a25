"""The key that signs the node's answers."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.context import NodeContext
from app.keys import own_seed
from app.settings import SettingsInvalid


async def signing_key(node: NodeContext) -> Ed25519PrivateKey:
    """The key of the setting, else the node's own, which is made when it is first needed.

    Raises `SettingsInvalid`, `DatabaseUnavailable`.
    """
    told = node.settings.query.signing_key
    if told is None:
        return Ed25519PrivateKey.from_private_bytes(await own_seed(node.engine, "answers"))
    try:
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(told.get_secret_value()))
    except ValueError as error:
        raise SettingsInvalid("query.signing_key has to be 64 hex digits.") from error
