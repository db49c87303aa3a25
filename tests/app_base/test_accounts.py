"""Accounts and tokens as a service, on a real database."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from app.accounts import service
from app.accounts.authentication import authenticate
from app.accounts.errors import AccountNameReserved, AccountNameTaken, AccountNotFound, TokenNotFound
from app.accounts.tokens import PersonalToken
from app.database import create_engine
from app.settings import DatabaseSettings
from odf_core.identity import AccountId, InvalidName


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    made = create_engine(DatabaseSettings.model_validate({"url": database_url}))
    yield made
    await made.dispose()


async def test_accounts_have_a_did_each_and_a_name_in_any_case(engine: AsyncEngine) -> None:
    alice = await service.create_account(engine, "Alice", display_name="Alice A.")
    bob = await service.create_account(engine, "bob", is_admin=True)
    assert alice.name == "Alice"
    assert AccountId.parse(alice.did) != AccountId.parse(bob.did)
    assert [account.name for account in await service.list_accounts(engine)] == ["Alice", "bob"]
    with pytest.raises(AccountNameTaken):
        await service.create_account(engine, "ALICE")
    assert (await service.ensure_account(engine, "aLiCe")).id == alice.id


@pytest.mark.parametrize("name", ["", "-a", "a b", "a/b", "ä"])
async def test_names_follow_the_grammar(engine: AsyncEngine, name: str) -> None:
    with pytest.raises(InvalidName):
        await service.create_account(engine, name)


@pytest.mark.parametrize("name", sorted(service.RESERVED_NAMES))
async def test_first_segments_of_the_node_are_no_names(engine: AsyncEngine, name: str) -> None:
    with pytest.raises(AccountNameReserved):
        await service.create_account(engine, name.upper())


async def test_the_secret_of_a_token_is_not_stored(engine: AsyncEngine) -> None:
    from sqlalchemy import text

    await service.create_account(engine, "alice")
    made = await service.create_token(engine, "Alice", "laptop")
    token = PersonalToken.parse(made.text)
    assert token is not None
    assert made.text not in repr(made)
    async with engine.connect() as conn:
        row = (await conn.execute(text("SELECT access_token::text, token_hash FROM access_token"))).one()
    assert token.secret.hex() not in row[0]
    assert bytes(row[1]) == token.secret_hash
    caller = await authenticate(engine, f"Bearer {made.text}")
    assert caller.account is not None
    assert (caller.account.name, caller.token_id) == ("alice", made.info.id)


async def test_tokens_are_listed_and_revoked(engine: AsyncEngine) -> None:
    await service.create_account(engine, "alice")
    first = await service.create_token(engine, "alice", "one")
    await service.create_token(engine, "alice", "two")
    await service.revoke_token(engine, first.info.id)
    await service.revoke_token(engine, first.info.id)
    listed = await service.list_tokens(engine, "alice")
    assert [(token.name, token.revoked_at is None) for token in listed] == [("two", True), ("one", False)]
    with pytest.raises(TokenNotFound):
        await service.revoke_token(engine, uuid4())
    with pytest.raises(AccountNotFound):
        await service.create_token(engine, "nobody", "x")
    with pytest.raises(AccountNotFound):
        await service.list_tokens(engine, "nobody")
