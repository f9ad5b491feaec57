"""OpenAI's files and vector stores: a file is a document, a vector store a collection (ADR 64).

shapes.py      documents and collections ─▶ their objects
paging.py      lists, with `after` and `before`
filters.py     their filters ─▶ ours; the tool `file_search` ─▶ options of `rag_search`
batches.py     several files at once; the id of a batch names them
finding.py     the store and file that an address names
files_api.py, stores_api.py, store_files_api.py, search_api.py   the addresses
"""
