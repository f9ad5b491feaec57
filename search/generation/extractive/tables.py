"""Rows of a table as statements: the name of the row, and each figure with the name of its column.

    | (in millions) | 2023    | 2022    |
    | Net revenue   | $ 3,200 | $ 2,900 |   ─▶   “Net revenue · 2023: $ 3,200 (in millions)”

Nothing is told but the table's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from core.text.figures import figure_of, places_of
from core.text.tables import RULE, header_of, table_end, table_start
from search.generation.extractive.wording import in_one_line

_UNIT = re.compile(
    r"\b(in (?:thousands|millions|billions))\b|\((thousands|millions|billions)(?:,? except\b[^()]*+)?\)",
    re.IGNORECASE,
)
_UNIT_OF_COLUMN = re.compile(r"[%‰€$£¥]|[^\W\d]{1,4}(?: ?[/·] ?[^\W\d]{1,4})?(?: ?[23²³])?|°[CF]?")
_UNIT_SIGN = re.compile(r"[%‰/°²³€$£¥]")
"""One of the units has it: else “a, b, c” would be units."""
_TOTAL = re.compile(r"(?:total|(?:zwischen)?summe|insgesamt|suma)\b|gesamt", re.IGNORECASE)
"""Begins the name of a row that ends a section."""
_RESULT = re.compile(
    r"net (?:cash|change|(?:in|de)crease|income|earnings|loss|profit)\b"
    r"|(?:gross|operating) (?:profit|income|margin|earnings|loss)\b"
    r"|(?:income|earnings|profit|loss)\b.{0,40}? (?:before|from (?:continuing )?operations)\b",
    re.IGNORECASE,
)
"""Begins the name of a row that is what sections come to, and part of none, unless of one for each share."""
PER_SHARE = re.compile(
    r"\b(?:per (?:\w+ )?share|je aktie|par action|por acción)\b",
    re.IGNORECASE,
)
MOST_SECTION_CHARS = 80
"""What is longer than this and stands above rows is a sentence, and no name of a section."""
_LINE = re.compile(r"[^\n]+")
_INTRODUCED = re.compile(r"\A[^:]{30,}+:\s++(?=\S)")
"""A sentence that the layout has put above a column: “Inventories at year end were as follows: 2009”."""
_EMPTY = re.compile(r"[\s$€£|%–—-]*")
_IN_WORDS = re.compile(r"[^\W\d_]{3}")
FEWEST_PARTS = 2
FEWEST_OF_KINDS = 4
"""So many rows at least tell that their first cells are kinds of things."""


@dataclass(frozen=True, slots=True)
class FactCell:
    """A cell that is not empty; `column` is the name of its column, empty if it has none."""

    column: str
    value: str

    def __str__(self) -> str:
        return f"{self.column.rstrip(':')}: {self.value}" if self.column else self.value


@dataclass(frozen=True, slots=True)
class FactRow:
    """A row of a table, which starts at an offset in it; `unit` is what its header says of all figures.

    `sentence` is what is quoted instead of its cells, if the figures stand in one. `section` is the name of
    the row without figures above it: “Revenue” above “Subscription”.
    """

    start: int
    name: str
    cells: tuple[FactCell, ...]
    unit: str = ""
    sentence: str = ""
    section: str = ""

    @property
    def scale(self) -> str:
        """What its unit comes to, however it is written: “millions”; empty without one."""
        return self.unit.casefold().rpartition(" ")[2]

    def rendered(self, cells: Sequence[FactCell]) -> str:
        """Return the row's name with some of its cells, or its sentence."""
        if self.sentence:
            return self.sentence
        has_figures = any(map(str.isdigit, "".join(cell.value for cell in cells)))
        unit = f" ({self.unit})" if self.unit and has_figures else ""
        return " · ".join(filter(None, (self.shown_section, self.name, *map(str, cells)))) + unit

    @property
    def shown_section(self) -> str:
        """Its section, where that tells more than its name: “International” of “Appliances”; else ""."""
        is_part = bool(self.name) and not _ends_section(self.name, self.section)
        is_said = len(self.section) > MOST_SECTION_CHARS or self.name.startswith(self.section)
        return self.section if is_part and not is_said else ""


def rows_of(table: str) -> Iterator[FactRow]:
    """Yield the rows that say something, of a table in Markdown as `core.text.tables` knows it."""
    first = header_of(table)
    header, unit = _header(first)
    section, parts = "", list[Decimal]()
    is_below_header = bool(first)
    for line in _LINE.finditer(table, table_start(table), table_end(table)):
        if RULE.fullmatch(line[0]) or line[0] == first:
            continue
        cells = row_cells(line[0])
        if is_below_header and len(cells) == len(header) and _are_units(cells):
            header = [
                f"{name} ({unit_of})" if unit_of else name
                for name, unit_of in zip(header, cells, strict=True)
            ]
            is_below_header = False
            continue
        is_below_header = False
        name, *values = cells if len(cells) > 1 else ["", *cells]
        columns = header[1:] if len(header) == len(cells) else [""] * len(values)
        filled = tuple(
            FactCell(column, value)
            for column, value in zip(columns, values, strict=True)
            if not _EMPTY.fullmatch(value)
        )
        if filled:
            yield FactRow(line.start(), name.rstrip(":"), filled, unit, section=section)
        figure = figure_of(filled[0].value, None) if filled else None
        # A row of dashes has no figures, but it is no name of those below it.
        if not any(values):
            section, parts = name.rstrip(":"), []
        elif _ends_section(name, section) or (
            figure and is_rest_of_rounding(figure.value - sum(parts), figure.value, len(parts))
        ):
            section, parts = "", []
        elif figure:
            parts.append(figure.value)


def _ends_section(name: str, section: str) -> bool:
    """Tell whether a row of this name is the total of a section, or what remains after it."""
    is_result = _RESULT.match(name) is not None and PER_SHARE.search(section) is None
    return is_result or _TOTAL.match(name) is not None


def is_rest_of_rounding(rest: Decimal, total: Decimal, parts: int) -> bool:
    """Tell whether a total is the sum of some parts, two at least: no more is left than rounding takes."""
    unit = Decimal(1).scaleb(-places_of(total))
    return parts >= FEWEST_PARTS and abs(rest) <= unit * parts / 2


def _are_units(cells: Sequence[str]) -> bool:
    """Tell whether a row below the header has the units of its columns: “- | N/mm² | %”."""
    name, *units = cells
    filled = [unit for unit in units if unit]
    has_sign = any(_UNIT_SIGN.search(unit) for unit in filled)
    return _EMPTY.fullmatch(name) is not None and has_sign and all(map(_UNIT_OF_COLUMN.fullmatch, filled))


def _header(header: str) -> tuple[list[str], str]:
    """Return the names of the columns and the unit; nothing where the first row is one like the others."""
    names = [_INTRODUCED.sub("", cell) for cell in row_cells(header)] if header else []
    found = [_UNIT.search(name) for name in names]
    # “Population (millions)” is that of one column, “in millions” above one that of all.
    is_of_all = bool(names) and (found[0] is not None or all(found[1:]))
    unit = next((each for each in found if each is not None and (is_of_all or each[1])), None)
    return names, (unit[1] or unit[2]) if unit else ""


def row_cells(row: str) -> list[str]:
    """Return the cells of a row in their places, those that are empty among them."""
    return [
        in_one_line(cell).removesuffix(" $")
        for cell in row.strip().removeprefix("|").removesuffix("|").split("|")
    ]


def naming_column(rows: Sequence[FactRow], language: str | None) -> str:
    """Return the column that names the rows, where their first cells do not; else "".

    First cells are but numbers and codes, or kinds: “Red”, “Red”, “White”. The column is the first with words
    in each row, and beside kinds with other words in each.
    """
    has_codes = sum(_IN_WORDS.search(row.name) is not None for row in rows) * 2 < len(rows)
    has_kinds = len(rows) >= FEWEST_OF_KINDS and len({row.name for row in rows}) * 2 <= len(rows)
    if not rows or not (has_codes or has_kinds):
        return ""
    values: dict[str, list[str]] = {}
    for row in rows:
        for cell in row.cells:
            values.setdefault(cell.column, []).append(cell.value)
    return next(
        (
            column
            for column, each in values.items()
            if column
            and len(each) == len(rows)
            and all(_IN_WORDS.search(value) and not figure_of(value, language) for value in each)
            and (has_codes or len(set(each)) == len(rows))
        ),
        "",
    )
