"""Pull and push as state machines without input or output, one for each side."""

from odf_core.transfer.sessions.client_pull import ClientPullSession, ClientPullState
from odf_core.transfer.sessions.client_push import ClientPushSession, ClientPushState
from odf_core.transfer.sessions.server_pull import ServerPullSession, ServerPullState
from odf_core.transfer.sessions.server_push import ServerPushSession, ServerPushState

__all__ = [
    "ServerPullSession",
    "ServerPullState",
    "ServerPushSession",
    "ServerPushState",
    "ClientPullSession",
    "ClientPullState",
    "ClientPushSession",
    "ClientPushState",
]
