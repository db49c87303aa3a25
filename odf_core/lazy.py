"""Packages that offer the names of their modules without loading them.

A command that asks for one class of a package should not wait for sockets, HTTP and JSON schemas that
others need. The package says where its names live; each module is loaded when the first of them is used.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """The `__getattr__` of a package: `homes` maps its modules, by name, to the names that live there."""
    if twice := {name for names in homes.values() for name in names} & set(homes):
        # Whoever imports the module would put it in the place of the name.
        raise ValueError(f"{package} has modules that are called like names it offers: {sorted(twice)}")
    home_of = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def get(name: str) -> object:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    return get
