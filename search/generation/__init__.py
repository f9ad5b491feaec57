"""Generators behind one small interface: a question and its contexts become cited text.

`GENERATION_PROVIDER` chooses. `start()` loads it when the process starts; `generator()` returns it.
"""

from search.generation.base import Generator
from search.generation.registry import GENERATORS, generator, load, start

__all__ = ["GENERATORS", "Generator", "generator", "load", "start"]
