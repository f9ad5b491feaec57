"""Answerers behind one small interface: a question and its contexts become cited text.

`GENERATION_PROVIDER` chooses. `start()` loads it when the process starts; `answerer()` is what a search asks.
"""

from search.answer.base import Answerer
from search.answer.registry import ANSWERERS, answerer, load, start

__all__ = ["ANSWERERS", "Answerer", "answerer", "load", "start"]
