"""Extraction in processes of their own, with limits: a file that kills one never kills the worker.

`parent.extract` has `child.Child` start `python -m extract.sandbox`, which reads the file with
`extract` and writes its findings as JSON lines. JSON and not pickle: a parser that a hostile file
has taken over may then only tell lies, which `wire.read_line` checks, and run nothing in the worker.
"""
