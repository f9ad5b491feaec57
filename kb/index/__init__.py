"""The search index: segments of chunks, scoped like documents, searched by full scans.

  chunks, vectors ──segments──▶ unmerged segments ──merging──▶ merged segments ──view──▶ words, nearest

A segment belongs to one workspace, external user and session. So a search opens only the segments that its
principal may see. Its results and the weights of words never depend on documents of other tenants. Vectors
are found by a scan of their binary codes followed by an exact comparison, words by BM25 over posting lists.
The cost of both depends only on the size of the scope, and a narrow scope misses nothing
(docs/adr/0015-segments.md).
"""
