"""Extraction in a process of its own, with limits: a file that kills it fails its document, not the worker.

`parent.extract` starts `python -m ingestion.sandbox`, which reads the file with `ingestion.extract` and
writes its findings as JSON lines. JSON and not pickle: a parser that a hostile file has taken over may then
only tell lies, which `wire.load` checks, and run nothing in the worker.
"""
