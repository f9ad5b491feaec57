"""A question as it is put to a company's own report: without its name, and without that of the report.

“How many employees does Adobe have, according to this 10-K?” ─▶ “How many employees does the company have?”

A report calls its company “the Company” or “we”. Its name stands where the company is introduced, and there
words and meaning find it, instead of what is asked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from uuid import UUID

from django.db.models import Q

from accounts.principal import Principal
from core.text.analysis import terms
from kb.models import Chunk, Document
from search.question_language import language_of

MOST_REPORTS, MOST_NAMES = 20, 8
CHUNKS_OF_OPENING, CHUNKS_OF_COVER = 3, 60
"""Of each document the first ones are read, and the one with the name of who has registered it."""
OPENING_CHARS = 2000

_REPORT = re.compile(
    r"\b(?:annual|quarterly|current|interim|half-year) report\b|\bform (?:10-?[kq]|8-?k|20-?f)\b"
    r"|exact name of registrant|\bannounce[sd]\b.{0,80}\bresults\b"
    r"|\b(?:geschäfts|zwischen|halbjahres|quartals)(?:finanz)?bericht\b|\brapport (?:annuel|semestriel)\b"
    r"|\binforme (?:anual|semestral|trimestral)\b",
    re.IGNORECASE,
)
_FIRM = (
    r"(?:inc(?:orporated)?|corp(?:oration)?|company|co|plc|ltd|limited|llc|ag|se|gmbh|kgaa|kg|group|gruppe|konzern"
    r"|s\.?a|sarl|n\.?v|b\.?v|spa|ab|asa|oyj|holdings?)\b"
)
_NAME = r"[A-ZÀ-ÖØ-Þ][\w-]*+(?: (?:& )?[A-ZÀ-ÖØ-Þ][\w-]*+){0,3}"
_NAMED = re.compile(
    # The subject of a question, or an owner: “does Adobe”, “of Analog Devices”, “Pfizer's”.
    rf"(?:\b(?i:did|does|do|has|have|had|is|was|were|are|will|can|of|by|at|hat|haben|von|bei|de|par)\s)({_NAME})"
    rf"|\b({_NAME})(?=['’]s?\s)"
)
_ACCORDING = re.compile(
    r",? ?\b(?:(?:according to|as per"
    r"|(?:(?:as )?(?:reported|detailed|mentioned|disclosed|described|stated|given|shown) )?(?:in|from))"
    r" (?:the company's|the|this|its|their)"
    r"(?: (?:latest|most recent|recent|current|annual|quarterly|company's|fiscal|q[1-4]"
    r"|(?:fy ?)?(?:19|20)\d\d|first|second|third|fourth|quarter)){0,5}"
    r" (?:10-?[kq]|8-?k|20-?f|report|filing|document)(?: (?:report|filing))?"
    r"|(?:laut|gemäß|im|(?:laut |gemäß |in )(?:dem|diesem|seinem|ihrem))(?: (?:letzten|neuesten|aktuellen))?"
    r" (?:geschäfts|jahres|zwischen|halbjahres|quartals)?(?:finanz)?bericht(?: (?:19|20)\d\d)?"
    r"|(?:selon|d['’]après|dans) (?:le|ce|son|leur)(?: dernier)? rapport(?: (?:annuel|semestriel))?"
    r"(?: (?:de )?(?:19|20)\d\d)?"
    r"|(?:según|en) (?:el|este|su)(?: último)? informe(?: (?:anual|semestral|trimestral))?"
    r"(?: (?:de )?(?:19|20)\d\d)?)\b",
    re.IGNORECASE,
)
"""The report a question is put to: no sentence in it says its own name."""
_COMPANY = {"en": "the company", "de": "das Unternehmen", "fr": "l'entreprise", "es": "la empresa"}


def put_to_own_report(principal: Principal, text: str, documents: Collection[UUID] | None) -> str:
    """Return a question without the name of the company whose reports are all that is searched.

    Where other documents are searched, too, the name tells which of them are meant, and stays.
    """
    language = language_of(text)
    names, company = list(islice(_names(text, language), MOST_NAMES)), _COMPANY.get(language)
    if not documents or len(documents) > MOST_REPORTS or not names or company is None:
        return text
    openings = _openings(principal, documents)
    if len(openings) < len(documents) or not all(map(_REPORT.search, openings.values())):
        return text
    for name in names:
        firm = firm_pattern(name)
        if all(_names_firm(firm, opening) for opening in openings.values()):
            text = name_pattern(name).sub(company, text)
    # “Traders' revenue” is “the company's revenue”.
    for apostrophe in "'’":
        text = text.replace(f"{company}{apostrophe} ", f"{company}'s ")
    return _ACCORDING.sub("", text).lstrip(" ,")


def _names(text: str, language: str) -> Iterator[str]:
    """Yield the names that may be the company's, without what begins a sentence: “For Adobe's”."""
    for found in _NAMED.findall(text):
        words = "".join(found).split()
        while words and not terms(words[0], language):
            words = words[1:]
        if words:
            yield " ".join(words)


def name_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of a name in a question."""
    return re.compile(rf"\b{re.escape(name)}\b")


def firm_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of a name that a word for a firm follows, or where it is registered."""
    between = r"(?:[^\w(]{1,4}\w{1,40}){0,2}?\W{1,4}"
    return re.compile(rf"\b{re.escape(name)}\b{between}({_FIRM}|exact name of)", re.IGNORECASE)


def _names_firm(firm: re.Pattern[str], opening: str) -> bool:
    """Tell whether the opening of a report calls a firm so: “ADOBE INC.”, “Johnson & Johnson (Exact name”."""
    # No firm is small: “Agua se vende”.
    return any(word[0].isupper() for word in firm.findall(opening))


def _openings(principal: Principal, documents: Collection[UUID]) -> Mapping[UUID, str]:
    """Return the name and the first words of each document, and those around “exact name of registrant”."""
    live = Chunk.objects.restricted_to(principal).filter(document_id__in=documents, replaced_by=None)
    first = Q(ordinal__lt=CHUNKS_OF_OPENING)
    cover = Q(ordinal__lt=CHUNKS_OF_COVER, text__icontains="exact name of registrant")
    called = dict(
        Document.objects.restricted_to(principal).filter(pk__in=documents).values_list("pk", "name")
    )
    texts: dict[UUID, str] = {}
    chunks = live.filter(first | cover).order_by("document_id", "ordinal")
    for document, text in chunks.values_list("document_id", "text"):
        begun = texts.get(document, called.get(document, ""))
        texts[document] = f"{begun}\n{text[:OPENING_CHARS]}"
    return texts
