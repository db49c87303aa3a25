"""What of the machine the engine's process may see: programs and libraries, its own folders, no network."""

import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from odf_core.engines.folders import EngineFolders
from odf_core.engines.java import Java
from odf_core.engines.options import SparkOptions
from odf_core.engines.sandbox import Fence, raise_fence
from odf_core.engines.spark.ports import remote_ports

_PROGRAMS = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/proc", "/sys")
_FILES_OF_ETC = (
    "alternatives",
    "group",
    "host.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "nsswitch.conf",
    "passwd",
    "resolv.conf",
    "ssl",
    "timezone",
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_REMOTE = ("spark.hadoop.fs.", "spark.jars")
_PACKAGE = Path(__file__).resolve().parents[2]


def fence_engine(options: SparkOptions, folders: EngineFolders, java: Java) -> Fence:
    """Raises the fences that the options and the machine allow around this process."""
    if not options.sandbox:
        return Fence("none (spark.sandbox is off)", "none (spark.sandbox is off)")
    etc = Path("/etc")
    readable = [
        *map(Path, _PROGRAMS),
        *(etc / name for name in _FILES_OF_ETC),
        *etc.glob("java*"),
        *_python_folders(options.handler_modules),
        java.home.resolve(),
        folders.inputs,
        folders.cache,
        *_named_files(options),
    ]
    writable = [
        *map(Path, _DEVICES),
        folders.outputs,
        folders.scratch,
        folders.runtime,
        folders.cache,
        *options.folders,
    ]
    network = _reason_for_network(options)
    return raise_fence(
        readable=readable,
        writable=writable,
        listable=[Path(entry) for entry in sys.path if entry],
        keep_network=network,
        ports=None if network is None else remote_ports(options),
    )


def _named_files(options: SparkOptions) -> list[Path]:
    """Local jars that Spark is to load, and how it finds packages."""
    named = dict(options.conf)
    files = [*named.get("spark.jars", "").split(","), named.get("spark.jars.ivySettings", "")]
    return [Path(file.removeprefix("file://")) for file in files if file.startswith(("/", "file://"))]


def _reason_for_network(options: SparkOptions) -> str | None:
    if not options.local:
        return "the engine reaches its Spark cluster and storage"
    if options.listen is not None and not options.listen.startswith("unix:"):
        return f"the engine listens on {options.listen}"
    if options.exchange is not None:
        return "the engine reaches the storage of its exchange"
    if any(name.startswith(_REMOTE) for name, _ in options.conf):
        return "the settings of Spark name storage or packages elsewhere"
    return None


def _python_folders(modules: Iterable[str]) -> list[Path]:
    """Where Python and its packages are; this package; the files of further modules."""
    found = [Path(sys.prefix), Path(sys.base_prefix), _PACKAGE]
    found += [Path(entry) for entry in sys.path if "site-packages" in entry]
    for name in modules:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            found.append(Path(spec.origin))
    return found
