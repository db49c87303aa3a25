"""Small Java helpers, kept as source beside this file and compiled within the JVM by Spark's own Janino."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

_HERE = Path(__file__).parent


class JavaHelper:
    """A compiled class and its static methods, called with strings or Java objects.

    py4j cannot name a class of a class loader that it does not know, so methods are called by reflection.
    """

    def __init__(self, session: SparkSession, source: str, name: str) -> None:
        self._gateway: Any = session.sparkContext._gateway
        jvm: Any = session._jvm
        self._jvm = jvm
        compiler: Any = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
        compiler.cook((_HERE / source).read_text(encoding="utf-8"))
        loaded = compiler.getClassLoader().loadClass(name)
        self._methods = {method.getName(): method for method in loaded.getDeclaredMethods()}

    def call(self, method: str, arguments: Sequence[Any]) -> Any:
        """The result of a static method of this name."""
        values = self._gateway.new_array(self._jvm.java.lang.Object, len(arguments))
        for index, argument in enumerate(arguments):
            values[index] = argument
        return self._methods[method].invoke(None, values)
