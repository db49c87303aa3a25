"""What a manifest may make this machine do.

On a person's own machine all of it; on a node a stranger's manifest may fetch from the public internet
and nothing else, unless the operator has allowed more.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from odf_core.errors import InvalidInput
from odf_core.ingest.errors import FetchNotAllowed
from odf_core.ingest.fetch.addresses import Address, Network, is_public

ALLOW_SETTING = "ingest.allow"
"""The node's setting: a list of the values that `FetchPolicy.node` takes."""
_NETWORK, _VARIABLE = "network:", "env:"


class Permission(StrEnum):
    """What an operator can allow as a whole."""

    PIPE = "pipe"
    CONTAINER = "container"
    FILE = "file"
    FILES_GLOB = "files_glob"
    MQTT = "mqtt"
    PRIVATE_ADDRESSES = "private_addresses"
    ENVIRONMENT = "environment"


class InvalidFetchPolicy(InvalidInput):
    """The setting of what manifests may do has a value that means nothing."""

    code: ClassVar[str] = "invalid_fetch_policy"


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """What is allowed: as a whole, by network, by name of an environment variable."""

    permissions: frozenset[Permission] = frozenset()
    networks: tuple[Network, ...] = ()
    variables: frozenset[str] = frozenset()

    @classmethod
    def person(cls) -> "FetchPolicy":
        """Everything: manifests of the person whose machine it is."""
        return cls(frozenset(Permission))

    @classmethod
    def node(cls, allow: Iterable[str] = ()) -> "FetchPolicy":
        """The public internet, and what `allow` names: a `Permission`, `network:10.1.0.0/16`, `env:NAME`.

        Raises `InvalidFetchPolicy` for other values.
        """
        permissions, networks, variables = set(), [], set()
        for item in allow:
            if item.startswith(_VARIABLE):
                variables.add(item.removeprefix(_VARIABLE))
                continue
            try:
                if item.startswith(_NETWORK):
                    networks.append(ipaddress.ip_network(item.removeprefix(_NETWORK)))
                else:
                    permissions.add(Permission(item))
            except ValueError as error:
                known = ", ".join(Permission)
                raise InvalidFetchPolicy(
                    f"{ALLOW_SETTING} has {item!r}; it takes {known}, "
                    f"{_NETWORK}ADDRESS/BITS and {_VARIABLE}NAME."
                ) from error
        return cls(frozenset(permissions), tuple(networks), frozenset(variables))

    def require(self, permission: Permission, what: str) -> None:
        """Raises `FetchNotAllowed` unless `permission` is given; `what` is the sentence's subject."""
        if permission not in self.permissions:
            raise _refusal(f"{what} is not allowed here", permission)

    def require_address(self, address: Address, host: str) -> None:
        """Raises `FetchNotAllowed` for an address outside the public internet that is not allowed."""
        if (
            is_public(address)
            or Permission.PRIVATE_ADDRESSES in self.permissions
            or any(address.version == network.version and address in network for network in self.networks)
        ):
            return
        shown = f"{host} ({address})" if host != str(address) else host
        raise _refusal(
            f"{shown} is not an address of the public internet, and fetching from there is not allowed here",
            f"{_NETWORK}{ipaddress.ip_network(address)}",
        )

    def require_variable(self, name: str) -> None:
        """Raises `FetchNotAllowed` unless manifests may read this environment variable."""
        if not self._may_read(name):
            raise _refusal(
                f"Reading the environment variable {name} is not allowed here", f"{_VARIABLE}{name}"
            )

    def variables_of(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The part of the environment that manifests may read."""
        return {name: value for name, value in environment.items() if self._may_read(name)}

    def _may_read(self, name: str) -> bool:
        return Permission.ENVIRONMENT in self.permissions or name in self.variables


def _refusal(what: str, value: str) -> FetchNotAllowed:
    return FetchNotAllowed(
        f"{what}; the operator can allow it with {str(value)!r} in the setting {ALLOW_SETTING}.",
        extras={"setting": ALLOW_SETTING, "value": str(value)},
    )
