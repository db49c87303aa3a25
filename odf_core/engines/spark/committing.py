"""How tasks put their files on S3: straight to where they belong (see `OdfDirectCommitter.java`).

The class is compiled when an engine with an exchange starts, and sent to the executors as a jar.
"""

import zipfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

COMMITTER_CONF = "spark.sql.parquet.output.committer.class"
COMMITTER = "OdfDirectCommitter"
_SOURCE = Path(__file__).with_name(f"{COMMITTER}.java")


def send_committer(session: SparkSession, scratch: Path) -> None:
    """Makes the class known to this JVM and to the executors."""
    jvm: Any = session._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    compiler: Any = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(loader)
    compiler.cook(_SOURCE.read_text(encoding="utf-8"))
    made = compiler.getBytecodes()
    jar = scratch / "committer.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for name in made:
            archive.writestr(f"{name}.class", bytes(made[name]))
    loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
    java: Any = session.sparkContext._jsc
    java.addJar(str(jar))
