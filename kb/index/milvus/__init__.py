"""The index in Milvus, a distributed search engine: the parts of `kb.index.engines.milvus`.

  change of chunks ─▶ a row in PostgreSQL (changes) ─▶ collections in Milvus, sums in PostgreSQL (statistics)

Milvus gets numbers only: vectors, hashed terms with their weights, and ids. PostgreSQL keeps how often each
term stands in each scope, so that the weight of a word depends on nobody else's documents.
"""
