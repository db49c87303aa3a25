"""Structured logs: one event a line on standard error, everything through one chain of processors.

Also what libraries say through `logging` (uvicorn, alembic, boto3) takes this way, so that nothing
leaves unredacted and every line of a request bears its id.
"""

import logging
import sys
from typing import Any, TextIO

import orjson
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from app.ops.redaction import redact_event
from app.settings import LogSettings

QUIET = (
    "app.transfer.websocket",
    "asyncio",
    "boto3",
    "botocore",
    "s3transfer",
    "sqlalchemy.engine",
    "urllib3",
    "uvicorn.access",
)
"""Libraries that speak too much below WARNING, by the loggers that they use."""


def _dumps(event: Any, **_options: Any) -> str:
    return orjson.dumps(event, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def _drop_color(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    event.pop("color_message", None)  # uvicorn's second form of its message
    return event


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        _drop_color,
    ]


def configure_logging(settings: LogSettings, stream: TextIO | None = None) -> None:
    """Send all logs of the process to `stream` (standard error) in the form of the settings."""
    renderer: Processor = (
        structlog.processors.JSONRenderer(serializer=_dumps)
        if settings.format == "json"
        else structlog.dev.ConsoleRenderer(colors=(stream or sys.stderr).isatty())
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_shared(),
        processors=[redact_event, structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers = []
        logging.getLogger(name).propagate = True
    for name in QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
