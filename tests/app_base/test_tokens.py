"""The text of personal tokens."""

import zlib
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.accounts.authentication import bearer_token
from app.accounts.errors import MalformedAuthorization
from app.accounts.tokens import PersonalToken

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def by_hand(data: bytes) -> str:
    """Crockford's base32 of 36 bytes, bit by bit: two zero bits fill the last digit."""
    number = int.from_bytes(data) << 2
    return "".join(CROCKFORD[(number >> 5 * place) & 31] for place in reversed(range(58)))


@given(st.uuids(), st.binary(min_size=16, max_size=16))
def test_text_is_crockford_of_uuid_secret_and_checksum(token_id: UUID, secret: bytes) -> None:
    token = PersonalToken(token_id, secret)
    checksum = zlib.crc32(secret).to_bytes(4, "big")
    assert token.text == "ka_" + by_hand(token_id.bytes + secret + checksum)
    assert len(token.text) == 61
    assert PersonalToken.parse(token.text) == token
    assert PersonalToken.parse("ka_" + token.text[3:].lower()) == token


def test_look_alikes_are_read_as_the_digits_they_look_like() -> None:
    token = PersonalToken(UUID(int=0), bytes(16))
    digits = token.text[3:]
    assert PersonalToken.parse("ka_" + digits.replace("0", "O")) == token
    assert PersonalToken.parse("ka_" + digits.replace("0", "o")) == token


@given(st.text(max_size=80))
def test_any_other_text_is_no_token(text: str) -> None:
    assert PersonalToken.parse(text) is None


@given(st.integers(min_value=3, max_value=60), st.sampled_from(CROCKFORD))
def test_a_changed_digit_is_another_token_or_none(place: int, digit: str) -> None:
    token = PersonalToken(UUID(int=7), bytes(range(16)))
    changed = token.text[:place] + digit + token.text[place + 1 :]
    found = PersonalToken.parse(changed)
    if changed != token.text and found is not None:
        # Only digits outside secret and checksum: the token of another id.
        assert found.secret == token.secret
        assert found.id != token.id


@given(st.uuids(), st.binary(min_size=16, max_size=16), st.sampled_from(CROCKFORD))
def test_a_changed_last_digit_is_none(token_id: UUID, secret: bytes, digit: str) -> None:
    """Also where only the bits differ that no byte holds."""
    token = PersonalToken(token_id, secret)
    found = PersonalToken.parse(token.text[:-1] + digit)
    assert found == (token if digit == token.text[-1] else None)


def test_the_secret_is_not_shown() -> None:
    token = PersonalToken.generate()
    assert token.secret.hex() not in repr(token)
    assert repr(token.secret) not in repr(token)


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Bearer    ", "Basic abc", "ka_abc", "bearer\tx"]
)
def test_malformed_headers(header: str) -> None:
    with pytest.raises(MalformedAuthorization, match="Invalid Bearer token header"):
        bearer_token(header)


def test_wellformed_headers() -> None:
    assert bearer_token(None) is None
    assert bearer_token("Bearer abc") == "abc"
    assert bearer_token("bearer  abc ") == "abc"
