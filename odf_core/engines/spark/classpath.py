"""Which of Spark's jars the engine's Java loads, and what names a set of them.

Left out are parts that no query needs (Hive, machine learning, Kubernetes, Spark Connect, the REPL):
a smaller class path starts faster and offers less to a query that should not be there. Executors of a
cluster have their own.
"""

import hashlib
from pathlib import Path

_LEFT_OUT = (
    "JLargeArrays",
    "JTransforms",
    "algebra_",
    "arpack",
    "blas-",
    "breeze",
    "cats-kernel_",
    "datanucleus",
    "derby",
    "hive-beeline",
    "hive-cli",
    "hive-common",
    "hive-exec",
    "hive-jdbc",
    "hive-metastore",
    "hive-serde",
    "hive-service",
    "hive-shims",
    "kubernetes",
    "lapack-",
    "libfb303",
    "libthrift",
    "scala-compiler",
    "spark-connect_",
    "spark-hive",
    "spark-kubernetes",
    "spark-mllib",
    "spark-pipelines_",
    "spark-repl",
    "spark-yarn",
    "spire",
    "tink-",
    "vertx-",
    "volcano-",
)


def engine_jars(spark_home: Path) -> list[Path]:
    """Spark's jars for the engine, in a fixed order (a class archive belongs to one class path)."""
    jars = sorted((spark_home / "jars").glob("*.jar"))
    return [jar for jar in jars if not jar.name.startswith(_LEFT_OUT)]


def jars_digest(jars: list[Path]) -> str:
    """Names a set of jars by their places, sizes and times of change, which Java checks as well."""
    told = [f"{jar}:{(found := jar.stat()).st_size}:{found.st_mtime_ns}" for jar in jars]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
