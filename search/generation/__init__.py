"""Generators behind one small interface: a question and its contexts become cited text.

`GENERATION_PROVIDER` chooses. `start()` loads it when the process starts; `generator()` returns it.
"""

from search.generation.base import Generator
from search.generation.registry import ANSWERERS, generator, load, start

__all__ = ["ANSWERERS", "Generator", "generator", "load", "start"]
