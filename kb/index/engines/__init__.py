"""Index engines: where chunks are searched, by setting (`SEARCH_ENGINE`).

  chunks, vectors ──write, forget──▶ engine ──candidates(scope, query)──▶ chunk ids with scores

`base` says what an engine is, `registry` lists them. PostgreSQL has the chunks and their vectors in any case:
an engine can be filled from them again (`kb.index.switching`). docs/adr/0072-search-engines.md
"""
