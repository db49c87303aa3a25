"""Ranges and conditions of content that never changes."""

import pytest

from app.datasets.conditional import deliver, immutable_cache, matches_etag
from app.datasets.errors import RangeNotSatisfiable

TAG = "f1620abc"


def settle(size: int = 10, method: str = "GET", **headers: str) -> tuple[int, int, int]:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    found = deliver(given, method, tag=TAG, size=size, cache=immutable_cache(public=True))
    return found.status, found.start, found.end


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-0", (206, 0, 1)),
        ("bytes=3-", (206, 3, 10)),
        ("bytes=3-5", (206, 3, 6)),
        ("bytes=3-500", (206, 3, 10)),
        ("bytes=-4", (206, 6, 10)),
        ("bytes=-400", (206, 0, 10)),
        ("BYTES=9-9", (206, 9, 10)),
        # Not single ranges of bytes: ignored, as RFC 9110 14.2 allows.
        ("bytes=0-1,3-4", (200, 0, 10)),
        ("bytes=5-3", (200, 0, 10)),
        ("bytes=-", (200, 0, 10)),
        ("bytes=a-b", (200, 0, 10)),
        ("items=0-1", (200, 0, 10)),
        ("bytes=" + "9" * 5000 + "-", (200, 0, 10)),
        ("", (200, 0, 10)),
    ],
)
def test_single_ranges(header: str, expected: tuple[int, int, int]) -> None:
    assert settle(range=header) == expected


@pytest.mark.parametrize("header", ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=9999999999999999999-"])
def test_a_range_behind_the_end_is_416(header: str) -> None:
    with pytest.raises(RangeNotSatisfiable) as caught:
        settle(range=header)
    assert caught.value.http_headers == {"content-range": "bytes */10"}


def test_an_empty_object_has_no_range() -> None:
    assert settle(size=0) == (200, 0, 0)
    with pytest.raises(RangeNotSatisfiable):
        settle(size=0, range="bytes=0-")


def test_head_answers_the_whole() -> None:
    assert settle(method="HEAD", range="bytes=3-5") == (200, 0, 10)


def test_headers_of_a_part() -> None:
    found = deliver({"range": "bytes=2-3"}, "GET", tag=TAG, size=10, cache="c")
    assert found.headers == {
        "etag": f'"{TAG}"',
        "cache-control": "c",
        "accept-ranges": "bytes",
        "content-range": "bytes 2-3/10",
        "content-length": "2",
    }


@pytest.mark.parametrize(
    ("if_range", "status"),
    [(f'"{TAG}"', 206), ('"other"', 200), (f'W/"{TAG}"', 200), ("Sat, 21 Nov 2026 01:00:00 GMT", 200)],
)
def test_if_range(if_range: str, status: int) -> None:
    assert settle(range="bytes=0-1", if_range=if_range)[0] == status


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, False),
        (f'"{TAG}"', True),
        (f'W/"{TAG}"', True),
        (f'"a", W/"{TAG}" , "b"', True),
        ('"a", "b"', False),
        ("*", True),
        (TAG, False),
        ("", False),
    ],
)
def test_if_none_match_is_a_list(header: str | None, expected: bool) -> None:
    assert matches_etag(header, TAG) is expected
    if header is not None:
        assert (settle(if_none_match=header)[0] == 304) is expected


def test_not_modified_comes_before_the_range() -> None:
    assert settle(if_none_match=f'"{TAG}"', range="bytes=99-")[0] == 304


def test_shared_caches_keep_public_content_only() -> None:
    assert immutable_cache(public=True).startswith("public,")
    assert immutable_cache(public=False).startswith("private,")
