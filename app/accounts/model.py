"""Values of accounts: who there is, and who asks."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.accounts.errors import AnonymousRestricted, TokenRefused, Unauthenticated


@dataclass(frozen=True, slots=True)
class AccountInfo:
    """An account as the node knows it."""

    id: UUID
    did: str
    name: str
    display_name: str | None
    is_admin: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """A token without its secret."""

    id: UUID
    account: str
    name: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: an account, or nobody known.

    `refusal` says why a token that was sent does not count ("Authentication token expired"); such a
    caller is anonymous where no account is needed, and refused on every route of a dataset.
    """

    account: AccountInfo | None = None
    token_id: UUID | None = None
    refusal: str | None = None

    def require_account(self) -> AccountInfo:
        """The account, or `Unauthenticated` (the deployed 401, wire.md 1.2)."""
        if self.account is None:
            raise Unauthenticated("Unauthenticated")
        return self.account

    def require_valid_token(self) -> None:
        """`TokenRefused` where a token was sent that does not count."""
        if self.refusal is not None:
            raise TokenRefused(self.refusal)

    def require_reader(self, *, anonymous_read: bool) -> None:
        """Raises `TokenRefused`, or `AnonymousRestricted` where the node wants to know everybody."""
        self.require_valid_token()
        if self.account is None and not anonymous_read:
            raise AnonymousRestricted("Anonymous account is restricted")


ANONYMOUS = Caller()
