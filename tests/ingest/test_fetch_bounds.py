"""Servers that misbehave: each meets a bound, and no file is left over."""

import socket
import threading
import zlib

import pytest

from odf_core.ingest.errors import (
    SourceMisbehaved,
    SourceTimedOut,
    SourceTooLarge,
    SourceUnreachable,
    TooManyRedirects,
)
from odf_core.ingest.fetch import fetch
from odf_core.metadata.sources import FetchStepUrl
from tests.ingest.fetching import Site, context_in, left_over, scripted

OK = b"HTTP/1.1 200 OK\r\n"


def refused(tmp_path, answer, error, words, **options):
    context = context_in(tmp_path, **options)
    with scripted(answer) as origin, pytest.raises(error, match=words) as raised:
        fetch(FetchStepUrl(url=f"{origin}/a"), None, context)
    assert left_over(context) == []
    return raised.value


def until_gone(peer, piece):
    while True:
        peer.sendall(piece)


def drip(peer, piece):
    """A byte now and then: never silent for as long as the idle timeout, never done."""
    peer.settimeout(0.05)
    while True:
        peer.sendall(piece)
        try:
            if not peer.recv(1):
                return
        except TimeoutError:
            continue


def test_more_than_the_limit_is_refused_when_it_is_announced(tmp_path):
    def answer(peer):
        peer.sendall(OK + b"Content-Length: 10737418240\r\n\r\n")
        until_gone(peer, b"x" * 65536)

    error = refused(tmp_path, answer, SourceTooLarge, "10737418240 bytes, more than the limit of 1073741824")
    assert error.extras == {"limit": 1073741824}


@pytest.mark.parametrize(
    "head", [b"Transfer-Encoding: chunked\r\n\r\n", b"\r\n"], ids=["chunked", "until close"]
)
def test_more_than_the_limit_is_refused_while_it_comes(tmp_path, head):
    chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n" if b"chunked" in head else b"x" * 4096

    def answer(peer):
        peer.sendall(OK + head)
        until_gone(peer, chunk)

    refused(tmp_path, answer, SourceTooLarge, "at least", max_bytes=100_000)


def test_silence_after_the_request(tmp_path):
    refused(
        tmp_path, lambda peer: peer.recv(1), SourceTimedOut, "silent for longer than 0.2 s", read_timeout=0.2
    )


def test_silence_in_the_body(tmp_path):
    def answer(peer):
        peer.sendall(OK + b"Content-Length: 100\r\n\r\nabc")
        peer.recv(1)

    refused(tmp_path, answer, SourceTimedOut, "silent for longer than 0.2 s", read_timeout=0.2)


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (OK + b"Content-Length: 1000000\r\n\r\n", b"x"),
        (OK + b"\r\n", b"x"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"T: x\r\n"),
        (OK + b"X: ", b"x"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["body", "body until close", "chunks", "trailers", "a header", "continues"],
)
def test_a_byte_now_and_then_ends_with_the_total_time(tmp_path, begin, piece):
    def answer(peer):
        peer.sendall(begin)
        drip(peer, piece)

    refused(tmp_path, answer, SourceTimedOut, "not fetched within 0.6 s", read_timeout=5, total_timeout=0.6)


@pytest.mark.parametrize(
    "sent",
    [
        OK + b"Content-Length: 100\r\n\r\nabc",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc",
        OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 200_000,
        OK + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde",
        OK + b"Content-Length: many\r\n\r\nabcde"[:-5],
        b"",
        b"SSH-2.0-OpenSSH_9\r\n\r\n",
        b"HTTP/1.1 200\r\n" + b"A: " + b"x" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200\r\n" + b"A: x\r\n" * 200 + b"\r\n",
    ],
    ids=["lying length", "cut chunk", "no last chunk", "no chunk", "endless chunk line", "two lengths",
         "no number", "nothing", "another protocol", "long header", "many headers"],
)  # fmt: skip
def test_what_is_cut_short_or_no_http_is_not_taken_for_a_file(tmp_path, sent):
    if b"many" in sent:
        context = context_in(tmp_path)
        with scripted(lambda peer: peer.sendall(sent)) as origin:  # a length that is none counts as none
            assert fetch(FetchStepUrl(url=f"{origin}/a"), None, context).size == 0
        return
    refused(tmp_path, lambda peer: peer.sendall(sent), SourceUnreachable, "cannot be fetched: ")


def test_headers_are_bounded_together(tmp_path):
    sent = OK + b"".join(b"A%d: %s\r\n" % (at, b"x" * 2000) for at in range(90)) + b"\r\n"
    refused(tmp_path, lambda peer: peer.sendall(sent), SourceTooLarge, "bytes of headers")


def test_endless_redirects(tmp_path):
    site = Site()
    try:
        site.redirect("/a", "/b")
        site.redirect("/b", "/a")
        context = context_in(tmp_path)
        with pytest.raises(TooManyRedirects, match="more than 10 times"):
            fetch(FetchStepUrl(url=site.url("/a")), None, context)
        assert len(site.requests) == 11
    finally:
        site.close()


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://localhost/x", "//[", "http://a:b/", "gopher://x"]
)
def test_redirects_lead_to_http_only(tmp_path, target):
    site = Site()
    try:
        site.redirect("/a", target)
        with pytest.raises(SourceMisbehaved, match="no http"):
            fetch(FetchStepUrl(url=site.url("/a")), None, context_in(tmp_path))
        site.pages["/c"] = lambda request: (request.send_response(302), request.end_headers())
        with pytest.raises(SourceMisbehaved, match="where to go"):
            fetch(FetchStepUrl(url=site.url("/c")), None, context_in(tmp_path))
    finally:
        site.close()


def bomb(peer, megabytes):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = b"".join(packer.compress(bytes(1 << 20)) for _ in range(megabytes)) + packer.flush()
    peer.sendall(OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    peer.shutdown(socket.SHUT_WR)
    peer.recv(1)


def test_a_content_encoding_that_explodes(tmp_path):
    refused(tmp_path, lambda peer: bomb(peer, 80), SourceTooLarge, "bomb")
    refused(tmp_path, lambda peer: bomb(peer, 8), SourceTooLarge, "more than the limit", max_bytes=1 << 20)


def test_a_host_that_never_takes_the_connection(tmp_path):
    full = socket.socket()
    full.bind(("127.0.0.1", 0))
    full.listen(0)
    port = full.getsockname()[1]
    waiting = []
    try:
        for _ in range(4):  # until the queue of the listener is full, connections get no answer
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
            waiting.append(one)
        context = context_in(tmp_path, connect_timeout=0.3)
        with pytest.raises(SourceTimedOut, match=r"took no connection within 0\.3 s"):
            fetch(FetchStepUrl(url=f"http://127.0.0.1:{port}/"), None, context)
    finally:
        for one in [full, *waiting]:
            one.close()


@pytest.mark.parametrize("drip_bytes", [b"", b"\x16\x03\x03\x3f\xff" + b"\x02" * 5], ids=["silent", "drips"])
def test_a_tls_handshake_without_an_end(tmp_path, drip_bytes):
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        try:
            peer, _ = listening.accept()
            with peer:
                drip(peer, drip_bytes)
        except OSError:
            return

    threading.Thread(target=serve, daemon=True).start()
    context = context_in(tmp_path, connect_timeout=0.5, total_timeout=20)
    with pytest.raises((SourceTimedOut, SourceUnreachable), match="https://127"):
        fetch(FetchStepUrl(url=f"https://127.0.0.1:{listening.getsockname()[1]}/"), None, context)
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()


def test_words_of_a_server_do_not_steer_a_terminal(tmp_path):
    error = refused(
        tmp_path, lambda peer: peer.sendall(b"\x1b[31mSSH\r\n\r\n"), SourceUnreachable, "cannot be fetched"
    )
    assert "\x1b" not in error.message
