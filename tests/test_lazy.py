"""Packages whose names are loaded on use offer all that they promise, each from where they say."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAZY = sorted(
    path.parent.relative_to(ROOT).as_posix().replace("/", ".")
    for path in (ROOT / "odf_core").rglob("__init__.py")
    if "lazy_names(" in path.read_text()
)


@pytest.mark.parametrize("package", LAZY)
def test_every_promised_name_is_there(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError):
        _ = module.nothing_of_this_name


@pytest.mark.parametrize("package", LAZY)
def test_types_and_names_come_from_the_same_modules(package: str) -> None:
    tree = ast.parse((ROOT / package.replace(".", "/") / "__init__.py").read_text())
    imported = {
        (node.module.removeprefix(f"{package}."), alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{package}.")
        for alias in node.names
    }
    (table,) = (
        ast.literal_eval(node.args[1])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "lazy_names"
    )
    assert {(module, name) for module, names in table.items() for name in names} == imported
