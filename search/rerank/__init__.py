"""Rerankers behind one small interface: the best candidates are read once more, each beside the question.

`RERANKER` chooses. `start()` loads it when the process starts; `reranker()` is what a search asks.
"""

from search.rerank.base import Reranker
from search.rerank.registry import RERANKERS, load, reranker, start

__all__ = ["RERANKERS", "Reranker", "load", "reranker", "start"]
