"""How a transfer can fail, seen from the side of the person who started it."""

from typing import ClassVar

from odf_core.errors import (
    AccessDenied,
    Conflict,
    IntegrityError,
    InvalidInput,
    NotFound,
    ProtocolViolation,
    Unavailable,
)


class RemoteDatasetNotFound(NotFound):
    """The node has no such dataset, or does not show it to this caller."""

    code: ClassVar[str] = "remote_dataset_not_found"


class RemoteObjectNotFound(NotFound):
    """The node's dataset lacks a block, slice or checkpoint that its chain names."""

    code: ClassVar[str] = "remote_object_not_found"


class RemoteUnauthenticated(AccessDenied):
    """The node wants to know who asks, and got no token: one has to log in."""

    code: ClassVar[str] = "remote_unauthenticated"


class RemoteTokenRefused(RemoteUnauthenticated):
    """401 to a token: it has expired, was revoked, or is none of this node."""

    code: ClassVar[str] = "remote_token_refused"


class RemoteForbidden(AccessDenied):
    """403: the token's account may not do this."""

    code: ClassVar[str] = "remote_forbidden"


class RemoteRefused(InvalidInput):
    """400 and its like: the node refuses the request itself; its sentence is in the message."""

    code: ClassVar[str] = "remote_refused"


class RemoteReadOnly(InvalidInput):
    """A push to an address of the Simple Transfer Protocol, which is read-only."""

    code: ClassVar[str] = "remote_read_only"


class RemoteUnavailable(Unavailable):
    """The node or its storage does not answer, answers 5xx, or breaks off; tries are used up."""

    code: ClassVar[str] = "remote_unavailable"


class UnexpectedAnswer(ProtocolViolation):
    """An HTTP answer or handshake that the protocol does not allow here."""

    code: ClassVar[str] = "unexpected_answer"


class TransferUrlRefused(AccessDenied):
    """The storage refuses a URL that the node made, also after it was asked for anew."""

    code: ClassVar[str] = "transfer_url_refused"


class TransferUrlExpired(TransferUrlRefused):
    """The storage refuses a URL in words that speak of its age, and no new one could be had."""

    code: ClassVar[str] = "transfer_url_expired"


class DownloadMismatch(IntegrityError):
    """Downloaded bytes are not what their hash or declared size says."""

    code: ClassVar[str] = "download_mismatch"


class LocalObjectDamaged(IntegrityError):
    """A file of the local dataset is not what its block declares."""

    code: ClassVar[str] = "local_object_damaged"


class DatasetsDiverged(Conflict):
    """Both sides have blocks that the other lacks."""

    code: ClassVar[str] = "datasets_diverged"


class DestinationAhead(Conflict):
    """The receiving side has all blocks of the sending side, and more."""

    code: ClassVar[str] = "destination_ahead"


class IdentityChanged(Conflict):
    """The two sides are different datasets: their Seeds differ. No flag overrides this."""

    code: ClassVar[str] = "identity_changed"


class LocalHeadMoved(Conflict):
    """Another process moved the head of the local dataset during the transfer."""

    code: ClassVar[str] = "local_head_moved"


class AddressUnresolved(InvalidInput):
    """A reference that does not lead to an address: unknown repository, several to choose from."""

    code: ClassVar[str] = "address_unresolved"
