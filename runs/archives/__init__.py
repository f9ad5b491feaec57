"""A workspace as one file: exported by the worker, downloaded once or twice, imported as a new workspace.

  manifest.json ─ documents.jsonl ─ chunks/ID.jsonl ─ files/ID ─ sessions.jsonl ─ executions.jsonl

`layout` says what stands where, `exporting` writes it, `reading` refuses what is no such file, `importing`
makes a workspace of it, `transfers` are the rows that people follow (docs/adr/0042-workspace-archives.md).
"""
