"""Engines: processes that evaluate queries, apart from the programs that ask them.

`handle` is the caller's side and imports no engine; `spark` is the process itself.
"""
