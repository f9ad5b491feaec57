"""Does the embedding model know the languages of the documents?"""

from __future__ import annotations

from collections import Counter

from babel import Locale

from kb.embedding.calibration import knows_english_alone
from kb.models import Chunk

LOOKED_AT = 10_000
"""So many passages are looked at for their language: a large installation has many more of the same kind."""
MANY_OTHERS = 0.05
"""Of all passages so many in other languages are worth another model."""


def note_of_languages(model: str) -> str:
    """Return what to do if the model knows English alone and many passages are in other languages."""
    if not knows_english_alone(model):
        return ""
    passages = Chunk.unscoped.filter(replaced_by=None).exclude(language="")
    counts = Counter(passages.filter(language__isnull=False).values_list("language", flat=True)[:LOOKED_AT])
    others = counts.copy()
    del others["en"]
    if not others or others.total() < MANY_OTHERS * counts.total():
        return ""
    names = Locale("en").languages
    most = ", ".join(names.get(language, language) for language, _ in others.most_common(3))
    return (
        f"This model knows English alone, and {others.total() / counts.total():.0%} of the passages are in"
        f" other languages ({most}). EMBEDDING_MODEL=multilingual-e5-small knows 100, and finds documents by"
        " questions in another language. It takes twice as long to embed."
    )
