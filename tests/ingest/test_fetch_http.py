"""Fetching over HTTP from a real server on loopback: state, conditions, headers, event times, templates."""

import dataclasses
import gzip
import ssl
import subprocess

import pytest

from odf_core.ingest.errors import (
    EventTimeUnreadable,
    FetchNotAllowed,
    InvalidFetchStep,
    SourceMisbehaved,
    SourceNotFound,
    SourceUnreachable,
)
from odf_core.ingest.fetch import FetchPolicy, UpToDate, fetch
from odf_core.metadata.events import SourceState
from odf_core.metadata.sources import (
    EventTimeSourceFromMetadata,
    EventTimeSourceFromPath,
    EventTimeSourceFromSystemTime,
    FetchStepUrl,
    RequestHeader,
    SourceCachingForever,
)
from odf_core.metadata.timestamp import Timestamp
from tests.ingest.fetching import NOW, Site, context_in, left_over

MODIFIED = "Wed, 01 Jan 2020 10:20:30 GMT"
MODIFIED_TIME = Timestamp.parse("2020-01-01T10:20:30Z")


@pytest.fixture
def site():
    site = Site()
    yield site
    site.close()


@pytest.fixture
def context(tmp_path):
    return context_in(tmp_path)


def state(kind, value):
    return SourceState(source_name="default", kind=kind, value=value)


def test_an_etag_is_the_state_and_hides_the_time_of_modification(site, context):
    site.put("/a.csv", b"1,2\n", ETag='"v1"', Last_Modified=MODIFIED)
    fetched = fetch(FetchStepUrl(url=site.url("/a.csv")), None, context)
    assert fetched.path.read_bytes() == b"1,2\n"
    assert fetched.path.parent == context.workdir
    assert (fetched.size, fetched.has_more, fetched.borrowed) == (4, False, False)
    assert fetched.source_state == state("odf/etag", '"v1"')
    assert fetched.event_time is None
    again = fetch(FetchStepUrl(url=site.url("/a.csv")), fetched.source_state, context)
    assert again == UpToDate()
    assert site.requests[-1][1]["if-none-match"] == '"v1"'
    assert "if-modified-since" not in site.requests[-1][1]


def test_without_an_etag_the_time_of_modification_is_state_and_event_time(site, context):
    site.put("/a.csv", b"x", Last_Modified=MODIFIED)
    fetched = fetch(FetchStepUrl(url=site.url("/a.csv")), None, context)
    assert fetched.source_state == state("odf/last-modified", "2020-01-01T10:20:30Z")
    assert fetched.event_time == MODIFIED_TIME
    assert fetch(FetchStepUrl(url=site.url("/a.csv")), fetched.source_state, context) == UpToDate()
    assert site.requests[-1][1]["if-modified-since"] == MODIFIED


def test_a_page_without_either_has_no_state(site, context):
    site.put("/a.csv", b"")
    fetched = fetch(FetchStepUrl(url=site.url("/a.csv")), state("odf/etag", '"old"'), context)
    assert (fetched.size, fetched.source_state, fetched.event_time) == (0, None, None)


def test_a_server_that_ignores_conditions_is_up_to_date_by_its_etag(site, context):
    def answer(request):
        request.send_response(200)
        request.send_header("ETag", '"v1"')
        request.send_header("Content-Length", "1")
        request.end_headers()
        request.wfile.write(b"x")

    site.pages["/a"] = answer
    assert fetch(FetchStepUrl(url=site.url("/a")), state("odf/etag", '"v1"'), context) == UpToDate()
    assert left_over(context) == []


@pytest.mark.parametrize(
    "strange",
    [state("odf/etag", "a\r\nX: y"), state("odf/etag", ""), state("odf/last-modified", "soon"),
     state("odf/unheard-of", "z"), state("odf/last-modified", "-2000-01-01T00:00:00Z")],
)  # fmt: skip
def test_a_state_that_no_header_can_carry_asks_for_the_file(site, context, strange):
    site.put("/a", b"x")
    assert fetch(FetchStepUrl(url=site.url("/a")), strange, context).size == 1
    assert not {"if-none-match", "if-modified-since", "x"} & site.requests[-1][1].keys()


def test_a_304_that_was_not_asked_for_is_no_answer(site, context):
    site.pages["/a"] = lambda request: (request.send_response(304), request.end_headers())
    with pytest.raises(SourceUnreachable, match="status 304"):
        fetch(FetchStepUrl(url=site.url("/a")), None, context)


@pytest.mark.parametrize(
    ("status", "error"),
    [(404, SourceNotFound), (410, SourceNotFound), (403, SourceUnreachable), (500, SourceUnreachable),
     (204, SourceUnreachable), (206, SourceUnreachable)],
)  # fmt: skip
def test_other_statuses_are_errors(site, context, status, error):
    def answer(request):
        request.send_response(status)
        request.send_header("Content-Length", "0")
        request.end_headers()

    site.pages["/a"] = answer
    with pytest.raises(error) as raised:
        fetch(FetchStepUrl(url=site.url("/a?token=secret")), None, context)
    assert raised.value.extras["status"] == status
    assert "secret" not in raised.value.message
    assert left_over(context) == []


def test_event_time_from_path_clock_and_metadata(site, context):
    site.put("/log-2021-03-04.csv", b"x", Last_Modified=MODIFIED)
    url = site.url("/log-2021-03-04.csv")

    def time(source):
        return fetch(FetchStepUrl(url=url, event_time=source), None, context).event_time

    assert time(EventTimeSourceFromPath(pattern=r"log-(\d+-\d+-\d+)\.")) == Timestamp.parse(
        "2021-03-04T00:00:00Z"
    )
    assert time(EventTimeSourceFromSystemTime()) == NOW
    assert time(EventTimeSourceFromMetadata()) == MODIFIED_TIME
    with pytest.raises(EventTimeUnreadable, match="finds no event time"):
        time(EventTimeSourceFromPath(pattern=r"table-(\d+)"))


def test_headers_and_credentials_of_the_url_are_sent(site, context):
    site.put("/a", b"x")
    headers = (RequestHeader(name="X-Api-Key", value="k1"), RequestHeader(name="accept", value="text/csv"))
    url = site.url("/a").replace("://", "://us%40er:pw@")
    fetch(FetchStepUrl(url=url, headers=headers), None, context)
    sent = site.requests[-1][1]
    assert (sent["x-api-key"], sent["accept"]) == ("k1", "text/csv")
    assert sent["authorization"] == "Basic dXNAZXI6cHc="
    assert sent["host"] == f"127.0.0.1:{site.port}"


@pytest.mark.parametrize(
    "header",
    [
        ("Host", "other"),
        ("X Y", "z"),
        ("X", "a\r\nHost: b"),
        ("Transfer-Encoding", "chunked"),
        ("X", "\u4e16"),
    ],
)
def test_headers_that_would_change_the_request_are_refused(site, context, header):
    step = FetchStepUrl(url=site.url("/a"), headers=(RequestHeader(name=header[0], value=header[1]),))
    with pytest.raises(InvalidFetchStep, match="header"):
        fetch(step, None, context)
    assert site.requests == []


def test_redirects_are_followed_and_credentials_stay_at_home(site, context):
    other = Site()
    try:
        other.put("/there", b"data", ETag='"t"')
        site.redirect("/a", "/b", 301)
        site.redirect("/b", other.url("/there"), 307)
        headers = (RequestHeader(name="X-Key", value="k"), RequestHeader(name="Accept", value="text/csv"))
        fetched = fetch(FetchStepUrl(url=site.url("/a"), headers=headers), None, context)
        assert fetched.path.read_bytes() == b"data"
        assert [sent["x-key"] for _, sent in site.requests] == ["k", "k"]
        assert "x-key" not in other.requests[0][1]
        assert other.requests[0][1]["accept"] == "text/csv"
        assert other.requests[0][1]["host"] == f"127.0.0.1:{other.port}"
    finally:
        other.close()


def test_templates_take_variables_that_the_policy_lets_them(site, context):
    site.put("/s3cret", b"x")
    step = FetchStepUrl(
        url=site.url("/${{ env.PAGE }}"),
        headers=(RequestHeader(name="X-Key", value="${{env.MISSING || env.KEY}}"),),
    )
    allowed = FetchPolicy.node(["private_addresses", "env:PAGE", "env:KEY", "env:MISSING"])
    full = dataclasses.replace(
        context, environment={"PAGE": "s3cret", "KEY": "${{ env.PAGE }}"}, policy=allowed
    )
    assert fetch(step, None, full).size == 1
    assert site.requests[-1][1]["x-key"] == "${{ env.PAGE }}"  # values are not expanded again

    with pytest.raises(InvalidFetchStep, match="PAGE, which is not set"):
        fetch(step, None, dataclasses.replace(full, environment={}))
    with pytest.raises(FetchNotAllowed, match="env:PAGE"):
        fetch(step, None, dataclasses.replace(full, policy=FetchPolicy.node(["private_addresses"])))
    with pytest.raises(InvalidFetchStep, match="only"):
        fetch(FetchStepUrl(url="http://a/${{ secrets.X }}"), None, full)
    with pytest.raises(SourceNotFound) as raised:
        fetch(step, None, dataclasses.replace(full, environment={"PAGE": "hidden", "KEY": "k"}))
    assert "hidden" not in str(raised.value.diagnostics())


def test_cached_for_ever_is_not_asked_again(site, context):
    step = FetchStepUrl(url=site.url("/a"), cache=SourceCachingForever())
    site.put("/a", b"x", ETag='"1"')
    first = fetch(step, None, context)
    site.put("/a", b"y", ETag='"2"')
    assert fetch(step, first.source_state, context) == UpToDate()
    assert len(site.requests) == 1


def test_an_encoding_that_nobody_asked_for_is_undone(site, context):
    body = gzip.compress(b"one\n" * 1000) + gzip.compress(b"two\n")
    site.put("/a.csv", body, Content_Encoding="gzip", ETag='"1"')
    site.put("/a.csv.gz", body, Content_Encoding="x-gzip")
    site.put("/b.csv", body, Content_Encoding="br")
    site.put("/short.csv", body[:-3], Content_Encoding="gzip")
    assert (
        fetch(FetchStepUrl(url=site.url("/a.csv")), None, context).path.read_bytes()
        == b"one\n" * 1000 + b"two\n"
    )
    assert fetch(FetchStepUrl(url=site.url("/a.csv.gz")), None, context).path.read_bytes() == body
    kept = left_over(context)
    with pytest.raises(SourceMisbehaved, match="'br'"):
        fetch(FetchStepUrl(url=site.url("/b.csv")), None, context)
    with pytest.raises(SourceMisbehaved, match="truncated"):
        fetch(FetchStepUrl(url=site.url("/short.csv")), None, context)
    assert left_over(context) == kept


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("data.csv", "no scheme"),
        ("gopher://host/x", "scheme 'gopher'"),
        ("http://", "no host"),
        ("http://host:99999/", "none"),
        ("http://ho st/", "space"),
        ("http://a..b/", "URL"),
        ("http://[::1/", "none"),
    ],
)
def test_urls_that_are_none(context, url, words):
    with pytest.raises(InvalidFetchStep, match=words):
        fetch(FetchStepUrl(url=url), None, context)


def test_nobody_at_home(context, site):
    site.close()
    with pytest.raises(SourceUnreachable, match=r"takes no connection: .*refused"):
        fetch(FetchStepUrl(url=site.url("/a")), None, context)
    with pytest.raises(SourceUnreachable, match="cannot be resolved"):
        fetch(FetchStepUrl(url="http://no-such-host.invalid/a"), None, context)


def test_progress_is_told_and_may_end_the_fetch(site, context):
    class Stopped(Exception):
        pass

    told = []
    site.put("/a", b"x" * 1000)
    fetch(
        FetchStepUrl(url=site.url("/a")),
        None,
        dataclasses.replace(context, progress=lambda *at: told.append(at)),
    )
    assert told[-1] == (1000, 1000)
    kept = left_over(context)

    def stop(*_at):
        raise Stopped

    with pytest.raises(Stopped):
        fetch(FetchStepUrl(url=site.url("/a")), None, dataclasses.replace(context, progress=stop))
    assert left_over(context) == kept


def test_over_tls_the_name_is_checked_although_the_address_is_connected_to(tmp_path):
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost"],
        capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("no openssl command to make a certificate with")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(cert, key)
    names = []
    tls.sni_callback = lambda _socket, name, _context: names.append(name)
    site = Site(tls)
    try:
        site.put("/a", b"over tls")
        trusting = context_in(tmp_path, tls_ca_file=cert)
        fetched = fetch(FetchStepUrl(url=site.url("/a", "localhost")), None, trusting)
        assert fetched.path.read_bytes() == b"over tls"
        assert names == ["localhost"]
        assert site.requests[-1][1]["host"] == f"localhost:{site.port}"
        with pytest.raises(SourceUnreachable, match=r"IP address mismatch|certificate"):
            fetch(FetchStepUrl(url=site.url("/a")), None, trusting)
        with pytest.raises(SourceUnreachable, match="certificate verify failed"):
            fetch(FetchStepUrl(url=site.url("/a", "localhost")), None, context_in(tmp_path))
    finally:
        site.close()
