"""Fetching over FTP from a real server on loopback."""

import pytest

from odf_core.ingest.errors import (
    EventTimeUnreadable,
    InvalidFetchStep,
    SourceNotFound,
    SourceTimedOut,
    SourceTooLarge,
    SourceUnreachable,
)
from odf_core.ingest.fetch import FetchPolicy, fetch
from odf_core.metadata.sources import EventTimeSourceFromMetadata, EventTimeSourceFromPath, FetchStepUrl
from tests.ingest.fetching import NOW, context_in, left_over
from tests.ingest.ftp_server import FtpServer

FILES = {"data/2020-02-03 a.csv": b"1,2\r\n" * 100_000, "b.csv": b"x"}


@pytest.fixture
def serve():
    running = []

    def start(habit="", **more):
        running.append(FtpServer(FILES, habit=habit, **more))
        return running[-1]

    yield start
    for server in running:
        server.close()


def test_a_file_has_no_state_and_the_time_of_the_clock(tmp_path, serve):
    server = serve()
    context = context_in(tmp_path)
    fetched = fetch(FetchStepUrl(url=server.url("/data/2020-02-03%20a.csv")), None, context)
    assert fetched.path.read_bytes() == FILES["data/2020-02-03 a.csv"]
    assert (fetched.size, fetched.source_state, fetched.event_time) == (500_000, None, NOW)
    assert "TYPE I" in server.said


def test_event_times(tmp_path, serve):
    context = context_in(tmp_path)

    def time(server, source):
        url = server.url("/data/2020-02-03%20a.csv")
        return str(fetch(FetchStepUrl(url=url, event_time=source), None, context).event_time)

    assert time(serve(), EventTimeSourceFromPath(pattern=r"/(\d+-\d+-\d+) ")) == "2020-02-03T00:00:00Z"
    assert time(serve(), EventTimeSourceFromMetadata()) == "2020-01-01T10:20:30Z"
    with pytest.raises(EventTimeUnreadable, match="does not tell when"):
        time(serve("no times"), EventTimeSourceFromMetadata())


def test_a_user_of_the_url_logs_in_and_is_never_shown(tmp_path, serve):
    server = serve(user=("me@home", "s3cret"))
    context = context_in(tmp_path)
    assert fetch(FetchStepUrl(url=server.url("/b.csv", "me%40home:s3cret@")), None, context).size == 1
    with pytest.raises(SourceUnreachable, match="530 who are you") as raised:
        fetch(FetchStepUrl(url=server.url("/b.csv", "me%40home:wr0ng@")), None, context)
    assert "wr0ng" not in str(raised.value.diagnostics())


def test_a_server_that_names_another_address_for_the_data_is_not_believed(tmp_path, serve):
    server = serve("bounce")
    policy = FetchPolicy.node(["network:127.0.0.1/32"])
    assert fetch(FetchStepUrl(url=server.url("/b.csv")), None, context_in(tmp_path, policy)).size == 1
    assert "PASV" in server.said


def test_no_such_file(tmp_path, serve):
    context = context_in(tmp_path)
    with pytest.raises(SourceNotFound, match="550 no such file"):
        fetch(FetchStepUrl(url=serve().url("/none.csv")), None, context)
    assert left_over(context) == []


@pytest.mark.parametrize(
    ("habit", "error", "words", "options"),
    [
        ("cut", SourceUnreachable, "426", {}),
        ("lies", SourceUnreachable, "ended after 500000 of 500001 bytes", {}),
        ("announces much", SourceTooLarge, "1099511627776 bytes, more than", {}),
        ("endless", SourceTooLarge, "limit of 1000000", {"max_bytes": 1_000_000}),
        ("silent", SourceTimedOut, "silent", {"connect_timeout": 0.3, "read_timeout": 0.3}),
        ("stalls", SourceTimedOut, "silent", {"read_timeout": 0.3}),
        ("drips", SourceTimedOut, "not fetched within", {"total_timeout": 0.6}),
        ("flood of greetings", SourceUnreachable, "more than 1000 lines", {}),
        ("endless greeting", SourceTimedOut, "not fetched within", {"total_timeout": 0.6}),
    ],
)
def test_servers_that_misbehave(tmp_path, serve, habit, error, words, options):
    context = context_in(tmp_path, **options)
    with pytest.raises(error, match=words):
        fetch(FetchStepUrl(url=serve(habit).url("/data/2020-02-03%20a.csv")), None, context)
    assert left_over(context) == []


@pytest.mark.parametrize("url", ["ftp://host/", "ftp:///a", "ftp://host/a%0d%0aDELE%20b"])
def test_urls_that_are_none(tmp_path, url):
    with pytest.raises(InvalidFetchStep, match="ftp://host"):
        fetch(FetchStepUrl(url=url), None, context_in(tmp_path))


def test_nobody_at_home(tmp_path, serve):
    server = serve()
    server.close()
    with pytest.raises(SourceUnreachable, match="refused"):
        fetch(FetchStepUrl(url=server.url("/a")), None, context_in(tmp_path))
