"""How the Spark engine is run: a frozen value, from the environment or from the node's settings."""

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odf_core.errors import InvalidInput

ENV_PREFIX = "ODF_SPARK__"
RUNTIME_VARIABLE = "ODF_RUNTIME_DIR"
MASTER_PATTERN = r"local(\[[^\]]+\])?|spark://.+"
EXCHANGE_PATTERN = r"s3a://[^/?#@\s]+(/[^/?#\s]+)*"
DEPLOYED_PORT = 2884
"""The port on which deployed coordinators look for an engine (data.md 4.3)."""


_OF_QUERIES = "spark.sql."
_HARMLESS = (
    "spark.sql.adaptive.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcastTimeout",
    "spark.sql.files.",
    "spark.sql.shuffle.partitions",
)
"""Settings of queries that decide how they run, not what comes of them."""


class EngineOptionsInvalid(InvalidInput):
    """An option of the engine has a value that cannot be used."""

    code = "engine_options_invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkOptions:
    """Options of one engine. Callers with equal options (but for `idle_seconds`, `call_seconds`) share it.

    `master`: `local[*]`, `local[N]` or `spark://host:port`. `memory`: heap of the JVM, as Java writes it.
    `idle_seconds`: it stops by itself after so long without a call. `call_seconds`: longest call.
    `start_seconds`: longest start. `calls`: calls at one time. `message_bytes`: largest message.
    `java_home`: None looks on the machine, then for the wheel. `conf`: further Spark settings.
    `runtime_dir`: folder of socket and locks; None: see `odf_core.engines.folders`. `work_dir`: folder of
    request files, scratch space and log; hard links into it need the file system of the data.
    `folders`: further folders that the engine may read and write, for callers that name paths.
    `listen`: `host:port` or `unix:path` on which deployed coordinators are served beside the own socket.
    `exchange`: folder on S3 (`s3a://bucket/folder`) through which files reach the executors of a cluster and
    results come back; None where they see the work folder. Keys for it are among `conf` and never logged.
    `sandbox`: whether to fence the process off where the machine can.
    `handler_modules`: modules that register further kinds of calls when they are imported.
    """

    master: str = "local[*]"
    memory: str = "2g"
    idle_seconds: float = 900
    call_seconds: float = 6 * 3600
    start_seconds: float = 180
    calls: int = 4
    message_bytes: int = 64 * 1024 * 1024
    java_home: Path | None = None
    conf: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    runtime_dir: Path | None = None
    work_dir: Path | None = None
    folders: tuple[Path, ...] = ()
    listen: str | None = None
    exchange: str | None = None
    sandbox: bool = True
    handler_modules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises `EngineOptionsInvalid` for settings in `conf` that the engine's identity does not cover."""
        require_harmless(name for name, _ in self.conf)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> "SparkOptions":
        """Options from `ODF_SPARK__<NAME>`; `conf` is a JSON object, `folders` a list.

        Raises `EngineOptionsInvalid`.
        """
        environ = os.environ if environ is None else environ
        values: dict[str, Any] = {}
        for item in dataclasses.fields(cls):
            text = environ.get(ENV_PREFIX + item.name.upper())
            if text is not None and item.name != "handler_modules":
                values[item.name] = _parse(item.name, text)
        return cls(**values)

    @property
    def local(self) -> bool:
        """Whether Spark runs within the engine's process alone."""
        return self.master.startswith("local")

    def to_json(self) -> dict[str, Any]:
        """The options as a JSON object, for the engine's process."""
        values = dataclasses.asdict(self)
        values["folders"] = [str(folder) for folder in self.folders]
        return {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "SparkOptions":
        """Reads what `to_json` gave, also of another release: what that did not know has its default here,
        and what is not known here is left out.
        """
        known = {item.name for item in dataclasses.fields(cls)}
        read = {name: value for name, value in values.items() if name in known}
        for name in ("java_home", "runtime_dir", "work_dir"):
            read[name] = Path(read[name]) if read.get(name) is not None else None
        read["conf"] = tuple((key, value) for key, value in read.get("conf", ()))
        read["folders"] = tuple(Path(folder) for folder in read.get("folders", ()))
        read["handler_modules"] = tuple(read.get("handler_modules", ()))
        return cls(**read)

    def digest(self, program: str) -> str:
        """Names the engine that these options share; `program` tells one version of it from another."""
        values = self.to_json()
        for name in ("idle_seconds", "call_seconds", "start_seconds"):
            del values[name]
        text = json.dumps([program, values], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def require_harmless(names: Iterable[str]) -> None:
    """Raises `EngineOptionsInvalid` for settings of Spark that could change a result: equal versions of an
    engine have to give equal rows, whoever runs them."""
    for name in names:
        if name.startswith(_OF_QUERIES) and not name.startswith(_HARMLESS):
            raise EngineOptionsInvalid(
                f"The setting {name} cannot be given in spark.conf, since it could change what queries give; "
                f"of {_OF_QUERIES}* these can: {', '.join(_HARMLESS)}.",
                objects=[name],
            )


def _parse(name: str, text: str) -> Any:
    try:
        match name:
            case "idle_seconds" | "call_seconds" | "start_seconds":
                return _positive(float(text))
            case "calls" | "message_bytes":
                return _positive(int(text))
            case "java_home" | "runtime_dir" | "work_dir":
                return Path(text)
            case "folders":
                return tuple(Path(folder) for folder in json.loads(text))
            case "master":
                return _matching(_MASTER, text)
            case "exchange":
                return _matching(_EXCHANGE, text)
            case "sandbox":
                return _FLAGS[text.strip().lower()]
            case "conf":
                return tuple(sorted((str(key), str(value)) for key, value in json.loads(text).items()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        shown = "" if name == "conf" else f": {text[:80]!r}"  # keys of S3 may be among `conf`
        raise EngineOptionsInvalid(
            f"{ENV_PREFIX}{name.upper()} has a value that cannot be used{shown}.",
            objects=[ENV_PREFIX + name.upper()],
        ) from (None if name == "conf" else error)
    return text


def _matching(pattern: re.Pattern[str], text: str) -> str:
    if not pattern.fullmatch(text):
        raise ValueError("of another form")
    return text


def _positive(number: float) -> float:
    if not number > 0:
        raise ValueError("not above 0")
    return number


_FLAGS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}
_EXCHANGE = re.compile(EXCHANGE_PATTERN)
_MASTER = re.compile(MASTER_PATTERN)
