"""Kinds of calls that only tests ask for; loaded into the engine's process by `handler_modules`."""

import os
import socket
import time
from pathlib import Path

from odf_core.engines.spark.handlers import register
from odf_core.errors import Conflict


def sleep(session, request, progress, workdir):
    progress("sleeping")
    time.sleep(request["seconds"])
    return {"pid": os.getpid()}


def long_job(session, request, progress, workdir):
    progress("working")
    return {"count": session.range(10**12).selectExpr("sum(hash(id))").collect()[0][0]}


def fail(session, request, progress, workdir):
    match request["how"]:
        case "typed":
            raise Conflict("Somebody was here before.", objects=["a"], extras={"by": "b"})
        case "python":
            raise ZeroDivisionError("nothing goes into nothing")
        case "spark":
            session.sql("select 1 / 0").collect()
        case "exit":
            os._exit(3)
        case "java":
            session._jvm.java.lang.Runtime.getRuntime().halt(4)
    return {}


def look_around(session, request, progress, workdir):
    """What of the machine can be seen from here."""
    return {
        "environment": dict(os.environ),
        "java_environment": str(session._jvm.java.lang.System.getenv("HOME")),
        "files": {path: _reads(path) for path in request["files"]},
        "writes": {path: _writes(path) for path in request["folders"]},
        "network": _connects(request["address"]),
    }


def _reads(path):
    try:
        Path(path).open("rb").close()
    except OSError as error:
        return type(error).__name__
    return "read"


def _writes(folder):
    try:
        (Path(folder) / "written").write_text("x")
    except OSError as error:
        return type(error).__name__
    return "written"


def _connects(address):
    try:
        socket.create_connection(tuple(address), timeout=5).close()
    except OSError as error:
        return type(error).__name__
    return "connected"


register("sleep", sleep)
register("long_job", long_job)
register("fail", fail)
register("look_around", look_around)
