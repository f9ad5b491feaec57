"""Extraction in limited child processes: a file that crashes one never crashes the worker.

`parent.extract` has `child.Child` start `python -m extract.sandbox`, which reads the file with `extract` and
writes its findings as JSON lines. They are JSON and not pickle: a hostile file may take over a parser. It can
then only write false findings, which `wire.read_line` checks, and run no code in the worker.
"""
