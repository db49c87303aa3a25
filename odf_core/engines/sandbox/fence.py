"""All fences of this machine, raised around the own process before it starts its first thread or child."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from odf_core.engines.sandbox.landlock import restrict_files, restricts_ports
from odf_core.engines.sandbox.network import leave_network


@dataclass(frozen=True, slots=True)
class Fence:
    """What holds: `network` and `files` are the names of the means, or `none (why)`."""

    network: str
    files: str

    def to_json(self) -> dict[str, str]:
        """As a JSON object, for the engine's information."""
        return {"network": self.network, "files": self.files}


def raise_fence(
    *,
    readable: Iterable[Path],
    writable: Iterable[Path],
    listable: Iterable[Path],
    keep_network: str | None,
    ports: Collection[int] | None = None,
) -> Fence:
    """Fences this process and all its children off, for ever.

    `listable` folders show their names and no contents: Python looks for modules there.
    `keep_network` is the reason why the network stays (a cluster, a TCP address), None to leave it; where it
    stays, TCP connections go to `ports` only (None: to all).
    Folders that do not exist are passed over. Nothing is raised where the machine has no such fence.
    """
    if keep_network is None:
        return Fence(leave_network(), restrict_files(readable, writable, listable))
    files = restrict_files(readable, writable, listable, ports)
    if ports is None or not restricts_ports():
        return Fence(f"none ({keep_network})", files)
    return Fence(f"landlock, TCP to {_told(ports)} ({keep_network})", files)


def _told(ports: Collection[int]) -> str:
    """Ports in words, long rows of them as `first-last`."""
    rows: list[list[int]] = []
    for port in sorted(set(ports)):
        if rows and rows[-1][1] == port - 1:
            rows[-1][1] = port
        else:
            rows.append([port, port])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in rows)
