"""What documents write out that people ask for by its letters: “CEO” is to find “Chief Executive Officer”.

So are words for the same, where neither letters nor meaning find the other: “employees”, “employed”.
"""

from __future__ import annotations

import re

_WRITTEN_OUT = {
    r"ceo": "chief executive officer",
    r"cfo": "chief financial officer",
    r"coo": "chief operating officer",
    r"cto": "chief technology officer",
    r"r ?& ?d": "research and development",
    r"sg ?& ?a": "selling, general and administrative expenses",
    r"pp ?& ?e|ppn?e": "property, plant and equipment",
    r"cogs": "cost of goods sold",
    r"capex": "capital expenditures",
    r"eps": "earnings per share",
    r"ipo": "initial public offering",
    r"m ?& ?a": "mergers and acquisitions",
    r"vat": "value added tax",
    r"hq|headquartered": "headquarters",
    r"how many (?:employees|people|staff|workers)(?= .{0,60}\b(?:have|has|had|employ)|.{0,60}\bemploy)"
    r"|headcount|number of employees": "employed people employees",
    r"wie ?viele (?:mitarbeiter\w*|beschäftigte\w*|angestellte\w*)": "Mitarbeiter Beschäftigte beschäftigt",
    r"combien (?:de salariés|d['’]employés)": "salariés employés effectif",
    r"cuántos (?:empleados|trabajadores)": "empleados trabajadores plantilla",
}
_CUES = [
    (re.compile(rf"(?<![\w&])(?:{short})(?![\w&])", re.IGNORECASE), words)
    for short, words in _WRITTEN_OUT.items()
]


def written_out(question: str) -> str:
    """Return what the abbreviations of a question stand for, unless it says so itself."""
    said = question.casefold()
    return ", ".join(words for cue, words in _CUES if cue.search(question) and words.casefold() not in said)
