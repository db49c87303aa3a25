"""Files of this machine, by URL and by pattern."""

import os

import pytest

from odf_core.ingest.errors import (
    EventTimeUnreadable,
    FetchNotAllowed,
    FetchStepUnsupported,
    InvalidFetchStep,
    SourceNotFound,
    SourceTooLarge,
    SourceUnreachable,
)
from odf_core.ingest.fetch import FetchPolicy, UpToDate, fetch
from odf_core.metadata.enums import SourceOrdering
from odf_core.metadata.events import SourceState
from odf_core.metadata.sources import (
    EventTimeSourceFromMetadata,
    EventTimeSourceFromPath,
    EventTimeSourceFromSystemTime,
    FetchStepEthereumLogs,
    FetchStepFilesGlob,
    FetchStepUrl,
)
from odf_core.metadata.timestamp import Timestamp
from tests.ingest.fetching import NOW, context_in


@pytest.fixture
def context(tmp_path):
    return context_in(tmp_path)


def url_of(path):
    return path.as_uri()


def test_a_file_is_used_where_it_lies_and_known_by_its_time(tmp_path, context):
    path = tmp_path / "my data.csv"
    path.write_bytes(b"1,2\n")
    os.utime(path, ns=(0, 1_577_874_030_123_500_000))
    fetched = fetch(FetchStepUrl(url=url_of(path)), None, context)
    assert (fetched.path, fetched.size, fetched.borrowed) == (path, 4, True)
    assert fetched.source_state == SourceState(
        source_name="default", kind="odf/last-modified", value="2020-01-01T10:20:30.124Z"
    )
    assert fetched.event_time == Timestamp.parse("2020-01-01T10:20:30.124Z")
    assert fetch(FetchStepUrl(url=url_of(path)), fetched.source_state, context) == UpToDate()
    other = SourceState(
        source_name="default", kind="odf/last-modified", value="2020-01-01T12:20:30.124+02:00"
    )
    assert fetch(FetchStepUrl(url=url_of(path)), other, context) == UpToDate()
    os.utime(path, ns=(0, 1_577_874_031_000_000_000))
    assert fetch(FetchStepUrl(url=url_of(path)), fetched.source_state, context).path == path


@pytest.mark.parametrize("nanoseconds", [-1, -1_500_000, 0, 999_499_999, 86_399_999_600_000])
def test_times_are_rounded_to_milliseconds(tmp_path, context, nanoseconds):
    path = tmp_path / "a"
    path.touch()
    os.utime(path, ns=(0, nanoseconds))
    expected = {
        -1: "1970-01-01T00:00:00Z",
        -1_500_000: "1969-12-31T23:59:59.999Z",
        0: "1970-01-01T00:00:00Z",
        999_499_999: "1970-01-01T00:00:00.999Z",
        86_399_999_600_000: "1970-01-02T00:00:00Z",
    }
    assert str(fetch(FetchStepUrl(url=url_of(path)), None, context).event_time) == expected[nanoseconds]


def test_event_time_of_a_file(tmp_path, context):
    path = tmp_path / "at_20210304.csv"
    path.touch()
    os.utime(path, ns=(0, 0))

    def time(source):
        return str(fetch(FetchStepUrl(url=url_of(path), event_time=source), None, context).event_time)

    assert time(EventTimeSourceFromMetadata()) == "1970-01-01T00:00:00Z"
    assert time(EventTimeSourceFromSystemTime()) == str(NOW)
    assert (
        time(EventTimeSourceFromPath(pattern=r"at_(\d+)", timestamp_format="%Y%m%d"))
        == "2021-03-04T00:00:00Z"
    )


@pytest.mark.parametrize(
    ("pattern", "form", "path", "time"),
    [
        (r"(\d{4}-\d\d-\d\d)", None, "/x/2020-02-29/2021-01-01.csv", "2020-02-29T00:00:00Z"),
        (r"(\d{4}-\d\d-\d\d)\.csv$", "%F", "/x/2020-02-29/2021-01-01.csv", "2021-01-01T00:00:00Z"),
        (r"_(.+)\.", "%Y%m%dT%H%M%S%z", "/x_20200101T100000+0200.csv", "2020-01-01T08:00:00Z"),
        (r"(?:a|b)-(\d+)-(\d+)", "%Y", "/b-1999-12", "1999-01-01T00:00:00Z"),
        (r"\n(.*)", "%Y", "/a\n2001", "2001-01-01T00:00:00Z"),
    ],
)
def test_times_in_paths(tmp_path, context, pattern, form, path, time):
    from odf_core.ingest.fetch.event_time import time_of_path

    assert str(time_of_path(EventTimeSourceFromPath(pattern=pattern, timestamp_format=form), path)) == time


@pytest.mark.parametrize(
    ("pattern", "form", "words"),
    [
        (r"\d+", None, "not a regular expression with a group"),
        (r"(\d+", None, "not a regular expression"),
        (r"(?=x)(\d+)", None, "not a regular expression"),
        (r"(\d{4})", "%Y-%m", "not of the format"),
        (r"(\d{4})", "%Q", "not of the format"),
        (r"(\d{4})", "%", "not of the format"),
        (r"(nothing)", None, "finds no event time"),
        (r"(z)?2020", None, "finds no event time"),
    ],
)
def test_patterns_that_tell_no_time(context, pattern, form, words):
    from odf_core.ingest.fetch.event_time import time_of_path

    with pytest.raises(EventTimeUnreadable, match=words):
        time_of_path(EventTimeSourceFromPath(pattern=pattern, timestamp_format=form), "/a/2020.csv")


def test_a_pattern_that_would_take_for_ever_does_not():
    from odf_core.ingest.fetch.event_time import time_of_path

    with pytest.raises(EventTimeUnreadable):
        time_of_path(EventTimeSourceFromPath(pattern=r"((a+)+)$"), "/" + "a" * 3000 + "!")


def test_paths_that_are_no_readable_file(tmp_path, context):
    with pytest.raises(SourceNotFound, match="There is no file"):
        fetch(FetchStepUrl(url=url_of(tmp_path / "none")), None, context)
    with pytest.raises(SourceUnreachable, match="no regular file"):
        fetch(FetchStepUrl(url=url_of(tmp_path)), None, context)
    with pytest.raises(SourceUnreachable, match="no regular file"):
        fetch(FetchStepUrl(url="file:///dev/zero"), None, context)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceUnreachable, match="no regular file"):
        fetch(FetchStepUrl(url=url_of(tmp_path / "pipe")), None, context)
    with pytest.raises(SourceUnreachable, match="cannot be read"):
        fetch(FetchStepUrl(url="file:///a%00b"), None, context)
    for url in ("file://host/a", "file:a", "file:"):
        with pytest.raises(InvalidFetchStep, match="form file:///"):
            fetch(FetchStepUrl(url=url), None, context)


def test_a_file_has_a_bound_too(tmp_path):
    path = tmp_path / "big.csv"
    with path.open("wb") as file:
        file.truncate(101)
    steps = FetchStepUrl(url=path.as_uri()), FetchStepFilesGlob(path=str(tmp_path / "*.csv"))
    for step in steps:
        with pytest.raises(SourceTooLarge, match="101 bytes; 100 are allowed"):
            fetch(step, None, context_in(tmp_path, max_file_bytes=100))
        assert fetch(step, None, context_in(tmp_path, max_file_bytes=101)).size == 101


def test_files_of_a_pattern_come_one_by_one_in_the_order_of_their_names(tmp_path, context):
    for name in ("c.csv", "a.csv", "b.csv", "z.txt", ".d.csv"):
        (tmp_path / name).write_text(name)
    (tmp_path / "folder.csv").mkdir()
    step = FetchStepFilesGlob(path=f"{tmp_path}/*.csv", order=SourceOrdering.BY_NAME)
    state, seen = None, []
    while not isinstance(found := fetch(step, state, context), UpToDate):
        seen.append((found.path.name, found.has_more, found.event_time, found.borrowed))
        state = found.source_state
        assert (state.kind, state.value) == ("odf/etag", found.path.name)
    assert seen == [("a.csv", True, NOW, True), ("b.csv", True, NOW, True), ("c.csv", False, NOW, True)]
    os.utime(tmp_path / "a.csv", ns=(0, 0))  # known by name only
    assert fetch(step, state, context) == UpToDate()
    (tmp_path / "d.csv").touch()
    assert fetch(step, state, context).path.name == "d.csv"


def test_patterns_without_files_folders_and_unreadable_ones(tmp_path, context):
    assert fetch(FetchStepFilesGlob(path=f"{tmp_path}/none/*.csv"), None, context) == UpToDate()
    with pytest.raises(InvalidFetchStep, match="no path has"):
        fetch(FetchStepFilesGlob(path="a\0b"), None, context)
    with pytest.raises(FetchStepUnsupported, match="ByName"):
        fetch(FetchStepFilesGlob(path="*", order=SourceOrdering.BY_EVENT_TIME), None, context)
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.csv").touch()
    with pytest.raises(SourceTooLarge, match="more than 2 files"):
        fetch(FetchStepFilesGlob(path=f"{tmp_path}/*.csv"), None, context_in(tmp_path, max_glob_files=2))


def test_two_files_of_one_name_are_refused_before_one_is_lost(tmp_path, context):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "data.csv").touch()
    with pytest.raises(InvalidFetchStep, match="same name"):
        fetch(FetchStepFilesGlob(path=f"{tmp_path}/**/*.csv"), None, context)


def test_a_name_that_is_no_text_is_refused(tmp_path, context):
    with open(os.fsencode(tmp_path) + b"/\xff.csv", "w"):
        pass
    with pytest.raises(InvalidFetchStep, match="not UTF-8"):
        fetch(FetchStepFilesGlob(path=f"{tmp_path}/*.csv"), None, context)


def test_event_times_of_a_pattern(tmp_path, context):
    (tmp_path / "2020-05-06.csv").touch()
    os.utime(tmp_path / "2020-05-06.csv", ns=(0, 0))

    def time(source):
        step = FetchStepFilesGlob(path=f"{tmp_path}/*.csv", event_time=source)
        return str(fetch(step, None, context).event_time)

    assert time(EventTimeSourceFromPath(pattern=r"/(\d+-\d+-\d+)\.csv")) == "2020-05-06T00:00:00Z"
    assert time(EventTimeSourceFromMetadata()) == "1970-01-01T00:00:00Z"
    assert time(EventTimeSourceFromSystemTime()) == str(NOW)


def test_a_node_reads_no_files_unless_allowed(tmp_path):
    (tmp_path / "a.csv").touch()
    steps = {
        "file": FetchStepUrl(url=url_of(tmp_path / "a.csv")),
        "files_glob": FetchStepFilesGlob(path=f"{tmp_path}/*"),
    }
    for value, step in steps.items():
        with pytest.raises(FetchNotAllowed, match=f"'{value}' in the setting ingest.allow") as raised:
            fetch(step, None, context_in(tmp_path, FetchPolicy.node()))
        assert raised.value.extras == {"setting": "ingest.allow", "value": value}
        assert fetch(step, None, context_in(tmp_path, FetchPolicy.node([value]))).size == 0


def test_logs_of_ethereum_are_refused_with_a_sentence(context):
    with pytest.raises(FetchStepUnsupported, match="Ethereum"):
        fetch(FetchStepEthereumLogs(signature="x"), None, context)
