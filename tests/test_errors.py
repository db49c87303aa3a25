"""Every error of the project: one code each, never two errors with one code, a family that callers know."""

import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator

import app
import odf_core
from odf_core import errors as families_module
from odf_core.errors import OdfError

FAMILIES = {
    cls for cls in vars(families_module).values() if isinstance(cls, type) and issubclass(cls, OdfError)
}


def all_modules() -> list[str]:
    return [
        module.name
        for package in (odf_core, app)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not module.name.endswith("__main__")
    ]


def descendants(cls: type[OdfError]) -> Iterator[type[OdfError]]:
    for child in cls.__subclasses__():
        yield child
        yield from descendants(child)


def leaves() -> list[type[OdfError]]:
    for name in all_modules():
        importlib.import_module(name)
    ours = {
        cls
        for cls in descendants(OdfError)
        if cls.__module__.split(".")[0] in ("odf_core", "app")
        and not (cls.__bases__ == (OdfError,) and cls.__subclasses__())  # what several leaves share
    }
    return sorted(ours - FAMILIES, key=lambda cls: (cls.__module__, cls.__qualname__))


def test_every_code_belongs_to_one_error() -> None:
    by_code: dict[str, list[str]] = defaultdict(list)
    for cls in leaves():
        by_code[cls.code].append(f"{cls.__module__}.{cls.__qualname__}")
    shared = {code: names for code, names in by_code.items() if len(names) > 1}
    assert shared == {}
    assert not by_code.keys() & {cls.code for cls in FAMILIES}


def faults_of(cls: type[OdfError]) -> Iterator[str]:
    if "code" not in vars(cls):
        yield "names no code of its own"
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", cls.code):
        yield f"code {cls.code!r} is not snake_case"
    if cls.family not in {family.family for family in FAMILIES}:
        yield f"family {cls.family!r} is unknown"
    if not any(base in FAMILIES - {OdfError} for base in cls.__mro__):
        yield "is in no family"
    if not cls.__doc__:
        yield "has no sentence that says when it is raised"


def test_an_error_has_a_code_of_its_own_and_a_known_family() -> None:
    faults = {f"{cls.__module__}.{cls.__qualname__}": list(faults_of(cls)) for cls in leaves()}
    assert {name: found for name, found in faults.items() if found} == {}
