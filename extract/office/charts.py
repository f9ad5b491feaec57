"""Charts in office files: their title, and the values from which they are drawn, as a table.

Reads DrawingML itself: python-pptx knows few kinds of charts, and no three-dimensional one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from core.locations import InFile
from extract.base import Element, Kind
from extract.places import element, fold_spaces, locate_text
from extract.tables import table_element

CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
NAMES, VALUES = ("cat", "xVal"), ("val", "yVal")
MOST_POINTS, MOST_SERIES = 5_000, 100

Points = dict[int, str]
"""The values of a series by their number."""


def chart_elements(root: Any, place: InFile | None = None) -> Iterator[Element]:
    """Yield the title of the chart in a chart part, and a table: a row for each point, a column a series."""
    title = root.find(f"{CHART}chart/{CHART}title")
    words = (
        [] if title is None else ["".join(part.itertext(f"{DRAWING}t")) for part in title.iter(f"{DRAWING}p")]
    )
    if text := fold_spaces(" ".join(words)):
        yield element(Kind.CAPTION, text, place)
    series = list(islice(root.iter(f"{CHART}ser"), MOST_SERIES))
    values = [_points(one, VALUES) for one in series]
    names: Points = {}
    for one in series:
        names = _points(one, NAMES) | names
    numbers = sorted({number for points in [names, *values] for number in points})[:MOST_POINTS]
    if not any(values) or not numbers:
        return
    heads = ["", *(_name(one) for one in series)]
    rows = [[names.get(number, ""), *(points.get(number, "") for points in values)] for number in numbers]
    yield table_element([[locate_text(text, place) for text in row] for row in [heads, *rows]])


def _name(series: Any) -> str:
    text = series.find(f"{CHART}tx")
    return "" if text is None else fold_spaces(" ".join(_values(text).values()))


def _points(series: Any, tags: tuple[str, str]) -> Points:
    """Return the points of a series' names or values; the levels of a name are joined."""
    node = next((found for tag in tags if (found := series.find(f"{CHART}{tag}")) is not None), None)
    if node is None:
        return {}
    levels = [_values(level) for level in node.iter(f"{CHART}lvl")]
    if not levels:
        return {number: _shown(value) for number, value in _values(node).items()}
    # The innermost level comes first; an outer one is named only where it begins.
    outer = ""
    joined = {}
    for number, value in sorted(levels[0].items()):
        outer = next((level[number] for level in levels[1:] if number in level), outer)
        joined[number] = fold_spaces(f"{outer} {value}")
    return joined


def _values(node: Any) -> Points:
    """Return the stored values below a node by their number; a lone value has none."""
    points = {
        int(point.get("idx") or 0): fold_spaces(point.findtext(f"{CHART}v") or "")
        for point in islice(node.iter(f"{CHART}pt"), MOST_POINTS)
    }
    return points or {at: fold_spaces(one.text or "") for at, one in enumerate(node.iter(f"{CHART}v"))}


def _shown(value: str) -> str:
    """Return a number without the digits that floating point adds."""
    try:
        return f"{float(value):.15g}" if value and not value.isdigit() else value
    except ValueError:
        return value
