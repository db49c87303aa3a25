"""What `odf login` asks: the person for the token, the node whether it knows it."""

import sys
from typing import ClassVar

import typer

from app.cli.session import transfer_options
from odf_core.errors import InvalidInput
from odf_core.transfer.client import DatasetAddress, Http, RepositoryApi

_MOST_CHARS = 8192


class TokenUnusable(InvalidInput):
    """A token that cannot be sent in a header."""

    code: ClassVar[str] = "token_unusable"


def read_token(given: str | None) -> str:
    """The token as given, from standard input (`-`), or asked for without being shown."""
    token = given
    if token == "-":  # noqa: S105 - the usual word for standard input
        token = sys.stdin.readline(_MOST_CHARS + 1)
    elif token is None:
        token = typer.prompt("Access token", hide_input=True, err=True)
    token = token.strip()
    if (
        not token
        or len(token) > _MOST_CHARS
        or not token.isascii()
        or not token.isprintable()
        or " " in token
    ):
        raise TokenUnusable("The token is empty or has characters that no token has.")
    return token


def check_token(address: str, token: str) -> str | None:
    """The name of the token's account. Raises `RemoteUnauthenticated` where the node refuses it; None
    where the node does not tell."""
    with Http(transfer_options()) as http:
        account = RepositoryApi(http, DatasetAddress.parse(address).url, token).own_account()
    return str.__str__(account) if account is not None else None
