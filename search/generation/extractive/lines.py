"""Which line of a statement is a row, and which lines does a question name? Their names: `line_names.py`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.text.raised import without_raised
from core.text.tables import table_start
from search.generation.extractive.line_names import LINES, NAMES_ELSEWHERE, StatementKind
from search.generation.extractive.periods import has_length

_STATEMENTS = {
    StatementKind.INCOME: re.compile(
        r"statements? of (?:\w+ ){0,3}?(?:income|operations|earnings)|income statement"
    ),
    StatementKind.BALANCE: re.compile(r"balance sheet|statements? of financial position"),
    StatementKind.CASH_FLOWS: re.compile(r"statements? of cash ?flow|cash flow statement"),
}
_OF_A_PART = re.compile(r"\b(?:obligors?|issuers?|guarant\w+|parent company|consolidating|segments?)\b")
CHARS_ABOVE = 200
"""So much of a table may name its statement."""


def is_of_a_part(headings: Sequence[str]) -> bool:
    """Tell whether a table below these headings is of a part of the company, or of those who stand surety."""
    return _OF_A_PART.search(" ".join(headings).casefold()) is not None


def is_statement(kind: StatementKind, headings: Sequence[str], text: str) -> bool:
    """Tell whether headings or the first words of a table name the statement, that of the whole company.

    A sentence that announces the table names it by chance: “Our statements of income include compensation:”.
    """
    start = table_start(text)
    titles = [words for words in text[:start].split("\n\n") if not words.rstrip().endswith((".", ":"))]
    above = " ".join([*headings, "\n\n".join([*titles, text[start:]])[:CHARS_ABOVE]]).casefold()
    return _STATEMENTS[kind].search(above) is not None and not is_of_a_part(headings)


def holds_balances(headings: Sequence[str], header: str) -> bool:
    """Tell whether a table with this header may hold balances, and not what they have changed by.

    Statements of cash flows call such a change like the balance.
    """
    return not has_length(header) and not any("cash flow" in heading.casefold() for heading in headings)


def plain_name(name: str) -> str:
    """Return the name of a row without case, marks, notes and what stands in parentheses."""
    return " ".join(re.findall(r"\w+", re.sub(r"\([^()]*\)", " ", without_raised(name)).casefold()))


NAMES = {
    key: tuple(map(re.compile, filter(None, (*line.names, NAMES_ELSEWHERE.get(key)))))
    for key, line in LINES.items()
}
"""The patterns of each line, which match all of a `plain_name`."""
_PARTS = {key: re.compile(line.parts) for key, line in LINES.items() if line.parts}
_CUES = {
    key: re.compile(rf"(?<!\w)(?:{line.cue})(?!\w)", re.IGNORECASE) for key, line in LINES.items() if line.cue
}
_TAX_EXPENSE = re.compile(
    r"(?:income )?tax(?:es)? expenses?|provision for (?:income )?tax(?:es)?", re.IGNORECASE
)
UNSIGNED = (
    "cost",
    "interest",
    "capital_expenditure",
    "administration",
    "marketing",
    "research",
    "operating_expenses",
    "dividends",
    "repurchases",
)
"""Lines that reports write with or without a sign, and that are computed with without."""


def is_unsigned(name: str) -> bool:
    """Tell whether a row is called like a line that is taken without its sign."""
    plain = plain_name(name)
    return any(each.fullmatch(plain) for key in UNSIGNED for each in NAMES[key])


def is_tax_expense(name: str) -> bool:
    """Tell whether a row is called an expense for taxes, and not also a benefit."""
    return _TAX_EXPENSE.fullmatch(name.strip()) is not None


def name_of(key: str, name: str, section: str) -> int | None:
    """Return which of the names of a line a row has, from 0 for the best; None if it has none.

    Some rows are called so with their section alone: “Net income” below “Earnings per share, diluted”, “Debt”
    below “Current liabilities”.
    """
    plain, below = plain_name(name), LINES[key].below
    if below and any(each.fullmatch(plain) for each in NAMES[below]):
        plain = plain_name(section)
    elif plain == "debt" and plain_name(section).startswith("current"):
        plain = "debt current"
    return next((at for at, each in enumerate(NAMES[key]) if each.fullmatch(plain)), None)


def is_part_of(key: str, name: str) -> bool:
    """Tell whether a row is called like a part of a line, of which reports may have no sum."""
    return key in _PARTS and _PARTS[key].fullmatch(plain_name(name)) is not None


def is_balance(name: str) -> bool:
    """Tell whether a row is called like a line of a balance sheet."""
    plain = plain_name(name)
    of_balance = (NAMES[key] for key, line in LINES.items() if line.kind is StatementKind.BALANCE)
    return any(each.fullmatch(plain) for names in of_balance for each in names)


def lines_named(question: str) -> list[tuple[str, re.Match[str]]]:
    """Return the keys of the lines that a question names, and where, in its order.

    The longest of nested names counts: “cost of revenue” names no revenue.
    """
    found = [(key, match) for key, cue in _CUES.items() for match in cue.finditer(question)]
    found.sort(key=lambda each: len(each[1][0]), reverse=True)
    named: list[tuple[str, re.Match[str]]] = []
    for key, match in found:
        if all(match.end() <= other.start() or other.end() <= match.start() for _, other in named):
            named.append((key, match))
    return sorted(named, key=lambda each: each[1].start())
