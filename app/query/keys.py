"""The key that signs the node's answers."""

import secrets

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.context import NodeContext
from app.database import begin
from app.query.tables import NodeKey
from app.settings import SettingsInvalid

ANSWERS = "answers"
_SEED_BYTES = 32


async def signing_key(node: NodeContext) -> Ed25519PrivateKey:
    """The key of the setting, else the node's own, which is made when it is first needed.

    Raises `SettingsInvalid`, `DatabaseUnavailable`.
    """
    told = node.settings.query.signing_key
    if told is not None:
        try:
            return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(told.get_secret_value()))
        except ValueError as error:
            raise SettingsInvalid("query.signing_key has to be 64 hex digits.") from error
    made = insert(NodeKey).values(name=ANSWERS, seed=secrets.token_bytes(_SEED_BYTES))
    async with begin(node.engine) as conn:
        await conn.execute(made.on_conflict_do_nothing())
        seed: bytes = (await conn.execute(select(NodeKey.seed).where(NodeKey.name == ANSWERS))).scalar_one()
    return Ed25519PrivateKey.from_private_bytes(seed)
