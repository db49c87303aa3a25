"""`odf engine`."""

from tests.cli.conftest import Odf


def test_the_engines_are_listed_without_starting_one(odf: Odf) -> None:
    listed = odf("engine", "list", "-o", "json").json
    assert [(row["name"], row["default"]) for row in listed] == [("spark", True), ("datafusion", False)]
    assert all("+odf." in row["version"] for row in listed)


def test_what_is_no_derivative_cannot_be_deprecated(odf: Odf) -> None:
    odf("init")
    odf("new", "foo", "--root")
    odf("add", "foo.yaml")
    ran = odf("engine", "deprecate", "foo", "--to", "1")
    assert ran.code == 3
    assert odf("engine", "deprecate", "absent", "--to", "1").code == 4
