"""A standalone Spark cluster on this machine: a master and workers of the installed PySpark."""

import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from odf_core.engines.java import find_java

ROOT = Path(__file__).resolve().parents[2]
SPARK_HOME = Path(find_spec("pyspark").submodule_search_locations[0])


_FENCED = """
import os, sys
from pathlib import Path
from odf_core.engines.sandbox.landlock import restrict_files
folder, *programs = map(Path, sys.argv[1].split(os.pathsep))
restrict_files([*map(Path, ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys")), *programs],
               [folder, Path("/dev")], [])
os.environ["JAVA_TOOL_OPTIONS"] = f"-Djava.io.tmpdir={folder} -XX:-UsePerfData"
os.execv(sys.argv[2], sys.argv[2:])
"""


def _fence(folder: Path) -> list[str]:
    """The beginning of a command that is fenced; Linux without Landlock runs it unfenced."""
    programs = (folder, SPARK_HOME, sys.prefix, sys.base_prefix, find_java().home.resolve())
    return [sys.executable, "-c", _FENCED, os.pathsep.join(map(str, programs))]


class Cluster:
    """Runs until `stop`; `url` is what `spark.master` takes."""

    def __init__(self, folder: Path, workers: int, *, fenced: bool = False) -> None:
        """`fenced`: as on other machines, the workers see no file of this one but programs and `folder`."""
        self.folder, self._fence = folder, _fence(folder) if fenced else []
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"spark://127.0.0.1:{port}"
        self._processes = [self._start("master.Master", "--port", str(port))]
        for number in range(workers):
            work = folder / f"worker-{number}"
            arguments = ("--cores", "1", "--memory", "512m", "--work-dir", str(work), self.url)
            self._processes.append(self._start("worker.Worker", *arguments))

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            process.wait(30)

    def _start(self, name: str, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [
            *self._fence,
            find_java().binary, "-Xmx256m", "-cp", f"{SPARK_HOME / 'jars'}/*",
            f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", "--webui-port", "0", *arguments,
        ]  # fmt: skip
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "HOME": str(self.folder),
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            # Without it a worker looks for a build of Spark and no executor ever starts.
            "SPARK_SCALA_VERSION": "2.13",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_DIRS": str(self.folder),
            "LOCAL_DIRS": str(self.folder),
        }
        log = self.folder / f"{name}-{len(list(self.folder.glob('*.log')))}.log"
        with log.open("wb") as output:
            return subprocess.Popen(command, stdout=output, stderr=output, env=environment, cwd=self.folder)
