"""Answerers behind one small interface: a question and its contexts become cited text.

`GENERATION_PROVIDER` chooses. `start()` loads it when the process starts; `answerer()` is what a search asks.
"""

from search.generation.base import Answerer
from search.generation.registry import ANSWERERS, answerer, load, start

__all__ = ["ANSWERERS", "Answerer", "answerer", "load", "start"]
