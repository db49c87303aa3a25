"""Loaded into an engine of these tests: steps under other settings than the engine would choose."""

from pathlib import Path

from odf_core.engines.messages import decode_message
from odf_core.engines.spark.handlers import register
from odf_core.engines.spark.transforms.execute import execute
from odf_core.transform.request import TransformRequest


def _handle(session, request, progress, workdir: Path):
    """A step with `conf` set, and its records held by this process or by files, as `small` says."""
    for name, value in request["conf"].items():
        session.conf.set(name, value)
    message = decode_message(TransformRequest, bytes.fromhex(request["request"]))
    done = execute(session, message, workdir, is_small=request["small"])
    interval = done.new_offset_interval
    return {
        "interval": None if interval is None else [interval.start, interval.end],
        "watermark": None if done.new_watermark is None else str(done.new_watermark),
        "late_rows": done.late_rows,
    }


register("test_transform", _handle)
