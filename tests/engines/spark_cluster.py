"""A standalone Spark cluster on this machine: a master and workers of the installed PySpark."""

import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from odf_core.engines.java import find_java

SPARK_HOME = Path(find_spec("pyspark").submodule_search_locations[0])


class Cluster:
    """Runs until `stop`; `url` is what `spark.master` takes."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder = folder
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
            find_java().binary, "-Xmx256m", "-cp", f"{SPARK_HOME / 'jars'}/*",
            f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", "--webui-port", "0", *arguments,
        ]  # fmt: skip
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            # Without it a worker looks for a build of Spark and no executor ever starts.
            "SPARK_SCALA_VERSION": "2.13",
            "PYSPARK_PYTHON": sys.executable,
        }
        log = self.folder / f"{name}-{len(list(self.folder.glob('*.log')))}.log"
        with log.open("wb") as output:
            return subprocess.Popen(command, stdout=output, stderr=output, env=environment, cwd=self.folder)
