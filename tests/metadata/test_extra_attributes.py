"""Extra attributes: one text for equal objects, spelled as the deployed implementation spells it."""

import json
from typing import Any

import pytest
from hypothesis import given

from odf_core.metadata import ExtraAttributes, InvalidExtraAttributes, NestingTooDeep
from odf_core.metadata.extra import parse_object
from tests.metadata.model_strategies import finite_json


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1234.5, "1234.5"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e16"),
        (-1.5e16, "-1.5e16"),
        (123456789012345680.0, "1.2345678901234568e17"),
        (0.00001, "0.00001"),
        (0.000001, "1e-6"),
        (1.5e-7, "1.5e-7"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e308"),
        (1 << 64, "1.8446744073709552e19"),
        ((1 << 64) - 1, "18446744073709551615"),
        (-(1 << 63), "-9223372036854775808"),
    ],
)
def test_numbers(number: float, text: str) -> None:
    assert ExtraAttributes.from_object({"n": number}).entries == f'{{"n":{text}}}'


def test_keys_are_sorted_at_every_level_and_text_is_not_escaped() -> None:
    value = {"b": {"z": 1, "a": [{"d": None, "c": True}]}, "ä": "ü\u2028\x7f", "B": '"\\\n\x01'}
    assert ExtraAttributes.from_object(value).entries == (
        '{"B":"\\"\\\\\\n\\u0001","b":{"a":[{"c":true,"d":null}],"z":1},"ä":"ü\u2028\x7f"}'
    )


def test_equal_objects_are_equal_values() -> None:
    one, other = ExtraAttributes.from_object({"a": 1, "b": 2}), ExtraAttributes.from_object({"b": 2, "a": 1})
    assert one == other
    assert hash(one) == hash(other)
    assert one.to_object() == {"a": 1, "b": 2}


@given(finite_json)
def test_objects_survive(value: dict[str, Any]) -> None:
    made = ExtraAttributes.from_object(value)
    assert made.to_object() == value
    assert parse_object(made.entries) == made.entries
    assert parse_object(json.dumps(value)) == made.entries


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        "null",
        "{",
        '{"a":NaN}',
        '{"a":-Infinity}',
        '{"a":1e999}',
        '{"a":"\\ud800"}',
        '{"\\udfff":1}',
    ],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidExtraAttributes):
        parse_object(text)


def test_huge_numbers_are_bounded() -> None:
    with pytest.raises(InvalidExtraAttributes):
        parse_object('{"a":' + "9" * 100_000 + "}")
    with pytest.raises(InvalidExtraAttributes):
        ExtraAttributes.from_object({"a": 10**400})
    assert parse_object('{"a":-0,"b":0}') == '{"a":-0.0,"b":0}'


@pytest.mark.parametrize("value", [[], "x", {"a": object()}, {1: 2}, {"a": b"x"}, {"a": float("nan")}])
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(InvalidExtraAttributes):
        ExtraAttributes.from_object(value)


@pytest.mark.parametrize("levels", [100, 100_000])
def test_depth_is_bounded(levels: int) -> None:
    with pytest.raises(NestingTooDeep):
        parse_object('{"a":' * levels + "1" + "}" * levels)
