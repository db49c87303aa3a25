"""Moments: text, order, conversion."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.metadata import InvalidTimestamp, Timestamp
from tests.metadata.model_strategies import timestamps


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2020-01-01T12:00:00Z", "2020-01-01T12:00:00Z"),
        ("2020-01-01t12:00:00z", "2020-01-01T12:00:00Z"),
        ("2020-01-01 12:00:00+00:00", "2020-01-01T12:00:00Z"),
        ("2020-12-31T23:30:00-01:00", "2021-01-01T00:30:00Z"),
        ("2020-01-01T00:30:00+01:00", "2019-12-31T23:30:00Z"),
        ("2024-02-29T00:00:00.1Z", "2024-02-29T00:00:00.100Z"),
        ("2024-02-29T00:00:00.123456Z", "2024-02-29T00:00:00.123456Z"),
        ("2024-02-29T00:00:00.1234567Z", "2024-02-29T00:00:00.123456700Z"),
        ("2024-02-29T00:00:00.12345678999Z", "2024-02-29T00:00:00.123456789Z"),
        ("2024-02-29T00:00:00.000000000Z", "2024-02-29T00:00:00Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:60Z"),
        ("2016-12-31T23:59:60.250Z", "2016-12-31T23:59:60.250Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("0000-12-31T00:00:00Z", "0000-12-31T00:00:00Z"),
        ("-0001-12-31T00:00:00Z", "-0001-12-31T00:00:00Z"),
        ("+12020-01-01T00:00:00Z", "+12020-01-01T00:00:00Z"),
    ],
)
def test_text_in_any_offset_becomes_canonical(text: str, written: str) -> None:
    assert str(Timestamp.parse(text)) == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2020-01-01",
        "2020-01-01T12:00:00",
        "2020-01-01T12:00Z",
        "2020-1-1T12:00:00Z",
        "2020-13-01T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "2020-01-00T00:00:00Z",
        "2020-01-01T24:00:00Z",
        "2020-01-01T00:60:00Z",
        "2020-01-01T00:00:61Z",
        "2020-01-01T00:00:00.Z",
        "2020-01-01T00:00:00+0100",
        "2020-01-01T00:00:00+24:00",
        "2020-01-01T00:00:00Z\n",
        "+2020-01-01T00:00:00Z",
        "٢٠٢٠-01-01T00:00:00Z",
        "2020-01-01T00:00:00." + "1" * 100 + "Z",
        "+999999-01-01T00:00:00Z",
    ],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidTimestamp):
        Timestamp.parse(text)


@given(timestamps(-262_143, 262_142))
def test_text_holds_the_moment(moment: Timestamp) -> None:
    assert Timestamp.parse(str(moment)) == moment


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_order_and_conversion_are_those_of_datetimes(one: datetime, other: datetime) -> None:
    assert Timestamp.from_datetime(one).to_datetime() == one
    assert (Timestamp.from_datetime(one) < Timestamp.from_datetime(other)) == (one < other)


def test_datetimes_need_a_time_zone() -> None:
    east = datetime(2020, 1, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert str(Timestamp.from_datetime(east)) == "2019-12-31T23:00:00Z"
    with pytest.raises(InvalidTimestamp):
        Timestamp.from_datetime(datetime(2020, 1, 1))
    with pytest.raises(InvalidTimestamp):
        Timestamp.from_datetime(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))))
    with pytest.raises(InvalidTimestamp):
        Timestamp(10_000, 1, 0, 0).to_datetime()


def test_leap_seconds_are_cut_for_datetimes_and_keep_their_order() -> None:
    leap = Timestamp.parse("2016-12-31T23:59:60.5Z")
    assert leap.to_datetime() == datetime(2016, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    assert Timestamp.parse("2016-12-31T23:59:59.9Z") < leap < Timestamp.parse("2017-01-01T00:00:00Z")


def test_now_is_a_moment() -> None:
    before = Timestamp.from_datetime(datetime.now(UTC))
    now = Timestamp.now()
    assert before <= now == Timestamp.checked(*now)
