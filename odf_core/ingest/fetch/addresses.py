"""Which addresses belong to the public internet.

The lists follow the special-purpose registries of IPv4 and IPv6. They stand here instead of being taken
from the interpreter, whose own have changed between patch releases.
"""

import ipaddress
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_NOT_PUBLIC_V4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # unspecified, "this network"
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared between a provider and its customers
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local, where clouds keep their metadata services
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")
"""All else is loopback, IPv4-mapped, NAT64, unique local, link-local, multicast, or not assigned."""
_NOT_PUBLIC_V6 = tuple(
    ipaddress.IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",
        "2002::/16",  # 6to4: an IPv4 address in disguise
        "3fff::/20",
    )
)


def parse_address(text: str) -> Address:
    """An address as resolvers write it, its zone left out. Raises ValueError."""
    return ipaddress.ip_address(text.partition("%")[0])


def is_public(address: Address) -> bool:
    """Whether anybody on the internet could reach the address too."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_V4)
    return address in _PUBLIC_V6 and not any(address in network for network in _NOT_PUBLIC_V6)
