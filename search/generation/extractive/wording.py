"""How a document's words are told: in one line, without what only layout needs, as plain text to Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from core.text.sentences import sentence_bounds
from search.contexts import Context
from search.generation.base import Corpus, GenerationRequest
from search.question_language import language_of

NOTHING_FOUND_IN = {
    "en": "I found no answer to this in these documents.",
    "de": "Dazu habe ich in diesen Dokumenten keine Antwort gefunden.",
    "fr": "Je n’ai trouvé aucune réponse à cela dans ces documents.",
    "es": "No he encontrado ninguna respuesta a esto en estos documentos.",
    "it": "Non ho trovato alcuna risposta a questo in questi documenti.",
    "nl": "Ik heb hierop in deze documenten geen antwoord gevonden.",
    "pt": "Não encontrei nenhuma resposta a isto nestes documentos.",
}
NOTHING_FOUND_ON_THE_WEB = {
    "en": "I found no answer to this on the web.",
    "de": "Dazu habe ich im Web keine Antwort gefunden.",
    "fr": "Je n’ai trouvé aucune réponse à cela sur le web.",
    "es": "No he encontrado ninguna respuesta a esto en la web.",
    "it": "Non ho trovato alcuna risposta a questo sul web.",
    "nl": "Ik heb hierop op het web geen antwoord gevonden.",
    "pt": "Não encontrei nenhuma resposta a isto na web.",
}
NOTHING_FOUND_IN_EITHER = {
    "en": "I found no answer to this in these documents or on the web.",
    "de": "Dazu habe ich weder in diesen Dokumenten noch im Web eine Antwort gefunden.",
    "fr": "Je n’ai trouvé aucune réponse à cela dans ces documents ni sur le web.",
    "es": "No he encontrado ninguna respuesta a esto en estos documentos ni en la web.",
    "it": "Non ho trovato alcuna risposta a questo in questi documenti né sul web.",
    "nl": "Ik heb hierop in deze documenten en op het web geen antwoord gevonden.",
    "pt": "Não encontrei nenhuma resposta a isto nestes documentos nem na web.",
}
NOTHING_FOUND = {
    Corpus.DOCUMENTS: NOTHING_FOUND_IN,
    Corpus.WEB: NOTHING_FOUND_ON_THE_WEB,
    Corpus.DOCUMENTS_AND_WEB: NOTHING_FOUND_IN_EITHER,
}
UNSEEN = {
    "en": "These documents do not mention {names}.",
    "de": "Diese Dokumente erwähnen {names} nicht.",
    "fr": "Ces documents ne mentionnent pas {names}.",
    "es": "Estos documentos no mencionan {names}.",
    "it": "Questi documenti non menzionano {names}.",
    "nl": "Deze documenten vermelden {names} niet.",
    "pt": "Estes documentos não mencionam {names}.",
}
LEADERS = re.compile(r"\s?(?:(?<!\.)(?<!\.\s)(?:\.\s?){4,}+|(?<!…)…{2,}+|(?<!_)_{4,}+)\s?")
"""Dots that lead the eye from a label to its figure, in text without two spaces side by side."""
_WORDS = re.compile(r"\w++(?:-\w++)*+")
_PARTED = re.compile(r"\b([^\W\d_]+)- ([^\W\d_]+)\b")


def nothing_found(asked: GenerationRequest) -> str:
    """Return, in the language of the question if we have it, that there is no answer there, and why."""
    language = language_of(asked.question)
    nothing = NOTHING_FOUND[asked.corpus][language]
    if not asked.unseen_names:
        return nothing
    names = ", ".join(f"“{escape_markdown(name)}”" for name in asked.unseen_names)
    return f"{nothing} {UNSEEN[language].format(names=names)}"


def reflection(question: str, contexts: Sequence[Context], cited: int) -> str:
    """Return the block that says what was asked, where it was looked for, and how many passages are cited."""
    names = dict.fromkeys(escape_markdown(fold(context.document_name)) for context in contexts)
    where = ", ".join(f"“{name}”" for name in names) or "no document"
    quoted = f"{cited} of them cited below." if cited else "none of them answers it."
    asked = f"The question is “{escape_markdown(fold(question))}”."
    return f"**Reflection:**\n*{asked} Passages found in {where}: {len(contexts)}, {quoted}*\n\n"


def fold(text: str) -> str:
    """Return `text` with every run of white space as one space."""
    return " ".join(text.split())


def words_in(texts: Iterable[str]) -> frozenset[str]:
    """Return the words of some texts without case, and of words with hyphens each two that stand together."""
    words: set[str] = set()
    for found in (found for text in texts for found in _WORDS.findall(text.casefold())):
        parts = found.split("-")
        words.update(parts)
        words.update(map("-".join, pairwise(parts)))
    return frozenset(words)


def in_one_line(text: str, known: frozenset[str] = frozenset()) -> str:
    """Return `text` in one line, without dot leaders, and whole the words that were parted at a line's end.

    `known` are the `words_in` texts that may have such a word unparted, with or without a hyphen; what they
    have in neither way stays as it is.
    """
    line = LEADERS.sub(" ", fold(text)).strip()
    return _PARTED.sub(lambda parted: _whole(parted, known), line)


def cited(text: str, context: Context) -> str:
    """Return a sentence, or a row, as Markdown that cites where it is from."""
    return f"{escape_markdown(text)} <source_{context.rank}>"


def each_cited(line: str, context: Context) -> str:
    """Return a line of one or more sentences, each of which cites where it is from."""
    bounds = sentence_bounds(line, context.language)
    return " ".join(cited(line[start:end], context) for start, end in bounds)


def escape_markdown(text: str) -> str:
    """Return `text` so that Markdown shows it as it is and no part of it can pose as a citation."""
    escaped = re.sub(
        r"([\\`*_\[\]<>]|~(?=~)|&(?=#?\w+;)|\((?=\s*source))", r"\\\1", text, flags=re.IGNORECASE
    )
    # A backslash before what is no ASCII punctuation would be shown.
    escaped = escaped.replace("【", "&#12304;")
    return re.sub(r"^(\d{0,9})([-+.)#])(?=[\s#])", r"\1\\\2", escaped)


def _whole(parted: re.Match[str], known: frozenset[str]) -> str:
    for whole in (parted[1] + parted[2], f"{parted[1]}-{parted[2]}"):
        if whole.casefold() in known:
            return whole
    return parted[0]
