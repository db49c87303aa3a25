"""From a host's name to addresses that may be connected to.

A name is resolved once and the connection goes to the very address that was examined: a name server that
answers differently the second time gains nothing.
"""

import queue
import socket
import threading

from odf_core.ingest.errors import SourceTimedOut, SourceUnreachable
from odf_core.ingest.fetch.addresses import Address, parse_address
from odf_core.ingest.fetch.values import FetchContext


def resolve(host: str, port: int, context: FetchContext) -> tuple[Address, ...]:
    """The addresses of `host`, all of them allowed, in the system's order of preference.

    One address that is not allowed refuses the host: raises `FetchNotAllowed`. Raises
    `SourceUnreachable` for a name without addresses, `SourceTimedOut` where no answer comes.
    """
    addresses = _ask(host, port, context.options.connect_timeout)
    for address in addresses:
        context.policy.require_address(address, host)
    return addresses


def _ask(host: str, port: int, seconds: float) -> tuple[Address, ...]:
    answers: queue.SimpleQueue[tuple[Address, ...] | Exception] = queue.SimpleQueue()
    # The resolver knows no timeout of ours; its thread is left behind when it takes too long.
    threading.Thread(target=_look_up, args=(host, port, answers), daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except queue.Empty as error:
        raise SourceTimedOut(f"The name {host} was not resolved within {seconds:g} s.") from error
    if isinstance(answer, Exception):
        raise SourceUnreachable(f"The name {host!r} cannot be resolved: {answer}.") from answer
    return answer


def _look_up(host: str, port: int, answers: "queue.SimpleQueue[tuple[Address, ...] | Exception]") -> None:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        answers.put(tuple(dict.fromkeys(parse_address(str(item[4][0])) for item in found)))
    except (OSError, ValueError) as error:  # ValueError: a name that cannot be encoded
        answers.put(error)
