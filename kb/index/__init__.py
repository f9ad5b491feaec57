"""The search index: segments of chunks, scoped like documents, scanned whole.

    chunks, vectors ──segments──▶ unmerged segments ──merging──▶ merged segments ──view──▶ words, nearest

A segment belongs to one workspace, external user and session, so that a search opens those its principal may
see and no other: what it finds, and how it weighs words, never depends on what other tenants store. Vectors
are found by a scan of their binary codes followed by an exact comparison, words by BM25 over posting lists.
Both cost what the scope holds and miss nothing in a narrow one (docs/adr/0015-segments.md).
"""
