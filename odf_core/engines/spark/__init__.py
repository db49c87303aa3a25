"""The Spark engine: a process of its own; `odf_core.engines.handle` is how it is reached."""
