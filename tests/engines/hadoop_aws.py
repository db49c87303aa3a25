"""`s3a://` for Spark: hadoop-aws from Maven, of the version of Spark's own Hadoop.

Maven is asked with the configuration of this machine; Spark's ivy then finds the packages in Maven's local
repository, so that no address of a registry stands anywhere in this project.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.engines.spark_cluster import SPARK_HOME

_REPOSITORY = Path.home() / ".m2" / "repository"
_FETCH_SECONDS = 500
_PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>odf</groupId><artifactId>packages</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
  </dependency></dependencies>
</project>
"""
_SETTINGS = """<ivysettings>
  <settings defaultResolver="local"/>
  <resolvers><ibiblio name="local" m2compatible="true" root="{root}"/></resolvers>
</ivysettings>
"""


def hadoop_aws() -> str:
    """The package's coordinates."""
    (client,) = (SPARK_HOME / "jars").glob("hadoop-client-api-*.jar")
    return "org.apache.hadoop:hadoop-aws:" + client.stem.removeprefix("hadoop-client-api-")


def package_conf(folder: Path) -> tuple[tuple[tuple[str, str], ...], Path]:
    """Settings that make Spark load it, and the folder that it has to read for that; skips without."""
    if shutil.which("mvn") is None:
        pytest.skip("hadoop-aws is fetched by Maven, and this machine has no mvn.")
    group, artifact, version = hadoop_aws().split(":")
    (folder / "pom.xml").write_text(_PROJECT.format(group=group, artifact=artifact, version=version))
    command = ["mvn", "-B", "-q", f"-Dmaven.repo.local={_REPOSITORY}", "dependency:resolve"]
    try:
        subprocess.run(command, cwd=folder, check=True, timeout=_FETCH_SECONDS, capture_output=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"Maven cannot fetch {hadoop_aws()} here ({type(error).__name__}).")
    settings = folder / "ivysettings.xml"
    settings.write_text(_SETTINGS.format(root=f"{_REPOSITORY.as_uri()}/"))
    conf = (("spark.jars.ivySettings", str(settings)), ("spark.jars.packages", hadoop_aws()))
    return conf, _REPOSITORY
