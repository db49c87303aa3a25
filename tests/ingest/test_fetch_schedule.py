"""When polling sources are due."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.ingest.errors import InvalidSchedule
from odf_core.ingest.schedule import next_run
from odf_core.metadata.timestamp import Timestamp

AFTER = Timestamp.parse("2026-11-21T08:59:30.5Z")  # a Saturday


@pytest.mark.parametrize(
    ("cron", "due"),
    [
        ("* * * * *", "2026-11-21T09:00:00Z"),
        ("59 8 * * *", "2026-11-22T08:59:00Z"),
        ("*/20 9-10 * * *", "2026-11-21T09:00:00Z"),
        ("5,10 * * * *", "2026-11-21T09:05:00Z"),
        ("  0   0 1 *\t* ", "2026-12-01T00:00:00Z"),
        ("0 0 29 2 *", "2028-02-29T00:00:00Z"),
        ("0 6 * * mon-fri", "2026-11-23T06:00:00Z"),
        ("0 0 * * 7", "2026-11-22T00:00:00Z"),
        ("0 0 * * 0", "2026-11-22T00:00:00Z"),
        ("0 0 13 * 5", "2026-11-27T00:00:00Z"),
        ("0 0 L * *", "2026-11-30T00:00:00Z"),
    ],
)
def test_the_next_moment(cron, due):
    assert str(next_run(cron, AFTER)) == due


def test_the_moment_itself_is_over():
    assert str(next_run("0 * * * *", Timestamp.parse("2026-11-21T09:00:00Z"))) == "2026-11-21T10:00:00Z"
    late = Timestamp.parse("2026-11-21T08:59:59.999999999Z")
    assert str(next_run("0 * * * *", late)) == "2026-11-21T09:00:00Z"
    assert str(next_run("30 1 29 2 *", Timestamp.parse("2096-03-01T00:00:00Z"))) == "2104-02-29T01:30:00Z"


@pytest.mark.parametrize(
    "cron",
    ["", "* * * *", "* * * * * *", "@daily", "61 * * * *", "*/0 * * * *", "r * * * *", "h * * * *",
     "R(0-9) * * * *", "-1 * * * *", "1,,2 * * * *", "0 0 30 2 *", "0 0 * * 1#6", "? ? ? ? ?",
     "* * * * \u0665", "9" * 1000 + " * * * *", "x * * * *"],
)  # fmt: skip
def test_what_is_no_schedule(cron):
    with pytest.raises(InvalidSchedule, match="schedule"):
        next_run(cron, AFTER)


def test_moments_that_never_come_say_so():
    with pytest.raises(InvalidSchedule, match="never comes"):
        next_run("0 0 31 4 *", AFTER)
    for end in ("9999-12-31T23:59:00Z", "+20000-01-01T00:00:00Z"):
        with pytest.raises(InvalidSchedule):
            next_run("0 * * * *", Timestamp.parse(end))


@given(st.lists(st.text("0123456789*,/-?#lL", min_size=1, max_size=6), min_size=5, max_size=5).map(" ".join))
def test_any_text_has_a_moment_or_a_sentence(cron):
    try:
        assert next_run(cron, AFTER) > AFTER
    except InvalidSchedule as error:
        assert error.message.endswith(".")
