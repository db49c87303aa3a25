"""The DataFusion engine: SQL in this process, without a JVM (data.md 4.5)."""
