"""All fences of this machine, raised around the own process before it starts its first thread or child."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from odf_core.engines.sandbox.landlock import restrict_files
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
) -> Fence:
    """Fences this process and all its children off, for ever.

    `listable` folders show their names and no contents: Python looks for modules there.
    `keep_network` is the reason why the network stays (a cluster, a TCP address), None to leave it.
    Folders that do not exist are passed over. Nothing is raised where the machine has no such fence.
    """
    network = f"none ({keep_network})" if keep_network else leave_network()
    return Fence(network, restrict_files(readable, writable, listable))
