"""Before the upgrade: who asks, for which dataset, in which dialect (wire.md 1.2 and 2).

What is refused here is an HTTP answer with its status, since a deployed client reads nothing else. The
order is that of the deployed layers: token, dataset, rights, version.
"""

from dataclasses import dataclass
from typing import ClassVar

from starlette.requests import HTTPConnection

from app.accounts.authentication import authenticate
from app.accounts.model import AccountInfo
from app.context import NodeContext
from app.database import connect
from app.datasets.access import authorize
from app.datasets.model import Action, DatasetAddress, DatasetInfo
from app.datasets.service import find_dataset, open_dataset
from app.http import origin
from app.transfer.object_urls import Requester
from app.transfer.target import Target
from odf_core.errors import AccessDenied, InvalidInput
from odf_core.transfer import Dialect, choose_dialect, split_offer

VERSION_HEADER = "x-odf-smtp-version"
VERSION = 1


class VersionMissing(InvalidInput):
    """The handshake does not say which version of the protocol it speaks."""

    code: ClassVar[str] = "protocol_version_missing"


class VersionUnreadable(InvalidInput):
    """The version in the handshake is no number."""

    code: ClassVar[str] = "protocol_version_unreadable"


class VersionUnsupported(InvalidInput):
    """The client speaks another version of the protocol."""

    code: ClassVar[str] = "protocol_version_unsupported"


class ForeignAccount(AccessDenied):
    """A dataset can be created under the caller's own account only."""

    code: ClassVar[str] = "foreign_account"


@dataclass(frozen=True, slots=True)
class PullHandshake:
    """A pull that may go on."""

    target: Target
    dataset: DatasetInfo


@dataclass(frozen=True, slots=True)
class PushHandshake:
    """A push that may go on: its target and the account that pushes."""

    target: Target
    account: AccountInfo


def dialect_of(connection: HTTPConnection) -> Dialect:
    """No offer of a subprotocol means the deployed dialect (wire-published.md, end)."""
    header = connection.headers.get("sec-websocket-protocol")
    return choose_dialect(None if header is None else split_offer(header))


def require_version(connection: HTTPConnection) -> None:
    """Raises `VersionMissing`, `VersionUnreadable`, `VersionUnsupported`."""
    text = connection.headers.get(VERSION_HEADER)
    if text is None:
        raise VersionMissing(f"Header of type `{VERSION_HEADER}` was missing")
    if not text.isascii() or not text.lstrip("-").isdigit() or len(text) > len(str(-(2**31))):
        raise VersionUnreadable(f"invalid HTTP header ({VERSION_HEADER})")
    if int(text) != VERSION:
        raise VersionUnsupported("Incompatible client version")


async def open_pull(connection: HTTPConnection, node: NodeContext, address: DatasetAddress) -> PullHandshake:
    """The dataset for a reader; raises as `open_dataset` and `require_version` do."""
    caller = await authenticate(node.engine, connection.headers.get("authorization"))
    async with connect(node.engine) as conn:
        dataset = await open_dataset(conn, node, caller, address, Action.READ)
    require_version(connection)
    return PullHandshake(Target(dataset.alias, _requester(connection), dataset), dataset)


async def open_push(connection: HTTPConnection, node: NodeContext, address: DatasetAddress) -> PushHandshake:
    """The dataset for a writer, or the free name for its owner.

    Raises also `Unauthenticated` and `ForeignAccount`, where there is no such dataset.
    """
    caller = await authenticate(node.engine, connection.headers.get("authorization"))
    caller.require_reader(anonymous_read=node.settings.accounts.anonymous_read)
    async with connect(node.engine) as conn:
        dataset = await find_dataset(conn, address)
    if dataset is not None:
        authorize(caller, dataset, Action.WRITE)
    require_version(connection)
    account = caller.require_account()
    if dataset is None:
        _require_own_account(account, address)
    alias = address.alias if dataset is None else dataset.alias
    return PushHandshake(Target(alias, _requester(connection), dataset), account)


def _require_own_account(account: AccountInfo, address: DatasetAddress) -> None:
    if account.name.lower() != address.account.folded:
        raise ForeignAccount("Unauthorized", objects=[address])


def _requester(connection: HTTPConnection) -> Requester:
    path = connection.url.path.rsplit("/", 1)[0]
    return Requester(origin(connection) + path, connection.headers.get("authorization"))
