"""Nothing secret reaches the log, whichever way it takes."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from app.ops.logs import configure_logging
from app.ops.redaction import redact, redact_text
from app.settings import LogSettings

# Made once with PersonalToken.generate(); a constant, since parameters must be the same in each process.
TOKEN = "ka_WJ2CJ7QTA50AV72576GFW2BRKMDQNDFSZHEZW9K88KB9RW7Y4VXN7NCJH0"
SIGNED = (
    "https://s3.example/b/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAEXAMPLE%2F2026&X-Amz-Date=2026"
    "&X-Amz-Security-Token=sts-hush&X-Amz-Signature=0123abcdef"
)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"token {TOKEN} refused", TOKEN),
        (f"authorization: Bearer {TOKEN}", TOKEN),
        ("Authorization: bearer some-odf-token", "some-odf-token"),
        ("basic dXNlcjpodXNo", "dXNlcjpodXNo"),
        (SIGNED, "0123abcdef"),
        (SIGNED, "AKIAEXAMPLE"),
        (SIGNED, "sts-hush"),
        ("postgresql+psycopg://odf:hush@db/odf", "hush"),
        ("jwt eyJhbGciOiJIUzM4NCJ9.eyJpc3MiOiJkZXYua2FtdSJ9.c2ln", "eyJpc3MiOiJkZXYua2FtdSJ9"),
    ],
)
def test_texts(text: str, secret: str) -> None:
    assert secret not in redact_text(text)


def test_what_is_no_secret_stays() -> None:
    for text in (
        "GET /alice/foo/refs/head",
        "f1620" + "ab" * 32,
        "http://host:8080/a?b=c",
        "did:odf:fed01" + "0" * 64,
    ):
        assert redact_text(text) == text


def test_fields_with_telling_names_at_any_depth() -> None:
    event = {
        "a": [{"Authorization": "x1", "headers": {"cookie": "x2"}}],
        "secret_access_key": "x3",
        "token": "x4",
    }
    shown = repr(redact({**event, "data": b"x5", "token_id": "kept"}))
    assert not any(secret in shown for secret in ("x1", "x2", "x3", "x4", "x5"))
    assert "kept" in shown


def test_endless_values_end() -> None:
    loop: dict[str, object] = {}
    loop["again"] = loop
    assert "…" in repr(redact(loop))


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = (root.handlers, root.level)
    stream = io.StringIO()
    configure_logging(LogSettings(level="debug"), stream)
    yield stream
    root.handlers, root.level = before
    structlog.reset_defaults()


def lines(log: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_structlog_logging_and_tracebacks_take_the_same_way(log: io.StringIO) -> None:
    logger = structlog.get_logger("odf.test")
    with structlog.contextvars.bound_contextvars(request_id="r1"):
        logger.info("signed", url=SIGNED, count=2)
        logging.getLogger("some.library").warning("sent Bearer %s", TOKEN)
        try:
            raise ValueError(f"bad token {TOKEN}")
        except ValueError:
            logger.exception("failed")
    assert TOKEN not in log.getvalue()
    assert "0123abcdef" not in log.getvalue()
    first, second, third = lines(log)
    assert (first["event"], first["count"], first["level"], first["request_id"]) == (
        "signed",
        2,
        "info",
        "r1",
    )
    assert second["request_id"] == "r1"
    assert second["logger"] == "some.library"
    assert "Traceback" in str(third["exception"])


def test_console_form(log: io.StringIO) -> None:
    configure_logging(LogSettings(format="console"), log)
    structlog.get_logger("odf.test").warning("signed", url=SIGNED)
    assert "0123abcdef" not in log.getvalue()
    assert "signed" in log.getvalue()
