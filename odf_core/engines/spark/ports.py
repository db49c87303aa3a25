"""To which TCP ports the engine connects where it may not leave the network: those of its Spark and its S3.

Landlock knows ports, not addresses. The ports above those of services (the system's range for callers) stay
open, for that is where the engine's own Java and the executors listen.
"""

from pathlib import Path
from urllib.parse import urlsplit

from odf_core.engines.options import SparkOptions

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_USUAL_RANGE = (32768, 60999)
_HADOOP, _S3A = "spark.hadoop.fs.", "spark.hadoop.fs.s3a."
_HTTP, _HTTPS = 80, 443


def remote_ports(options: SparkOptions) -> frozenset[int] | None:
    """The ports; None where the settings name storage whose ports are not known here, or packages, which are
    fetched from wherever Spark finds them (local jars in `spark.jars` need none)."""
    conf = dict(options.conf)
    if any(name.startswith(_HADOOP) and not name.startswith(_S3A) for name in conf):
        return None
    if "spark.jars.packages" in conf:
        return None
    found = set(range(_range()[0], _range()[1] + 1))
    found.update(int(value) for name, value in conf.items() if name.endswith(".port") and value.isdecimal())
    if not options.local:
        found.update(_port(f"//{host}", 7077) for host in options.master.removeprefix("spark://").split(","))
    endpoint = conf.get(_S3A + "endpoint", "https://")
    found.add(_port(endpoint, _HTTP if endpoint.startswith("http://") else _HTTPS))
    if _S3A + "access.key" not in conf:
        found.add(_HTTP)  # a machine's own role is asked for over plain HTTP
    return frozenset(port for port in found if 0 < port < 65536)


def _port(address: str, otherwise: int) -> int:
    try:
        return urlsplit(address).port or otherwise
    except ValueError:
        return otherwise


def _range() -> tuple[int, int]:
    """From where to where the system gives ports to whoever asks for any."""
    try:
        first, last = map(int, _RANGE.read_text().split())
    except (OSError, ValueError):
        return _USUAL_RANGE
    return first, last
