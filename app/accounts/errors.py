"""Errors of accounts, tokens and of who is asking."""

from typing import ClassVar

from odf_core.errors import AccessDenied, Conflict, InvalidInput, NotFound


class MalformedAuthorization(InvalidInput):
    """An `Authorization` header that is no `Bearer` with a token (wire.md 1.2)."""

    code: ClassVar[str] = "malformed_authorization"


class TokenRefused(AccessDenied):
    """The token is expired, revoked or unknown."""

    code: ClassVar[str] = "token_refused"


class AnonymousRestricted(AccessDenied):
    """This node lets nobody read without a token (`accounts.anonymous_read`)."""

    code: ClassVar[str] = "anonymous_restricted"


class Unauthenticated(AccessDenied):
    """Only somebody with a valid token may ask this."""

    code: ClassVar[str] = "unauthenticated"


class AccountNotFound(NotFound):
    """No account has this name."""

    code: ClassVar[str] = "account_not_found"


class AccountNameTaken(Conflict):
    """An account of this name, in some case of its letters, is there already."""

    code: ClassVar[str] = "account_name_taken"


class AccountNameReserved(InvalidInput):
    """The name is the first segment of an address of the node itself."""

    code: ClassVar[str] = "account_name_reserved"


class TokenNotFound(NotFound):
    """No token has this id."""

    code: ClassVar[str] = "token_not_found"
