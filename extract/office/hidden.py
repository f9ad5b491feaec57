"""Removes what Word and PowerPoint files hold but do not show from their XML, before it is read.

White text counts as hidden only where nothing else can lie behind it: tables, text boxes and slides bring
backgrounds from their styles. Losing a visible word is worse than finding a hidden one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from extract.office.styles import MAX_CHAIN, W, is_on, value
from extract.places import fold_spaces

# Half-points: type below two points looks like a line.
TINY = 4
WHITE = 0xF0
TEXT = f"{W}t"
BACKED = frozenset({f"{W}tbl", f"{W}txbxContent"})
PLAIN = frozenset({"", "auto", "FFFFFF", "none", "white"})
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
# Hundredths of a point.
TINY_ON_SLIDES = 200

Size = tuple[int, int]
"""Width and height."""


class HiddenRuns:
    """Finds the runs of a Word document that can't be seen."""

    def __init__(self, styles: Any, document: Any) -> None:
        """Take `styles.xml` (None if the file has none) and the document's root."""
        nodes = [] if styles is None else list(styles.iter(f"{W}style"))
        self._styles = {node.get(f"{W}styleId"): node for node in nodes}
        # The styles of tables colour both the text and its background.
        self._has_suspects = any(_has_suspects(node) for node in nodes if node.get(f"{W}type") != "table")
        self._may_be_backed = document.find(f"{W}background") is not None or any(
            anchor.get("behindDoc") in ("1", "true") for anchor in document.iter("{*}anchor")
        )

    def take(self, part: Any) -> str:
        """Remove hidden runs from a part; return their text."""
        found: list[str] = []
        if not (self._has_suspects or _has_suspects(part)):
            return ""
        for run in list(part.iter(f"{W}r")):
            text = "".join(node.text or "" for node in run.iter(TEXT))
            if text.strip() and self._is_hidden(run):
                found.append(text)
                run.getparent().remove(run)
        return fold_spaces(" ".join(found))

    def _is_hidden(self, run: Any) -> bool:
        properties = list(self._properties(run))
        if not properties:
            return False
        vanish = next((found for each in properties if (found := each.find(f"{W}vanish")) is not None), None)
        size = _first(properties, "sz")
        if is_on(vanish) or _is_tiny(size):
            return True
        return _is_white(_first(properties, "color")) and not self._has_background(run, properties)

    def _properties(self, run: Any) -> Iterator[Any]:
        """Yield the properties that apply to a run, the most specific first."""
        own = run.find(f"{W}rPr")
        if own is not None:
            yield own
            yield from self._of_style(value(own, "rStyle"))
        paragraph = next(run.iterancestors(f"{W}p"), None)
        properties = paragraph.find(f"{W}pPr") if paragraph is not None else None
        if properties is not None:
            yield from self._of_style(value(properties, "pStyle"))

    def _of_style(self, style_id: str | None) -> Iterator[Any]:
        for _ in range(MAX_CHAIN):
            style = self._styles.get(style_id) if style_id else None
            if style is None:
                return
            if (look := style.find(f"{W}rPr")) is not None:
                yield look
            style_id = value(style, "basedOn")

    def _has_background(self, run: Any, properties: list[Any]) -> bool:
        """Whether a background may make white text of this run visible."""
        if self._may_be_backed or any(each.find(f"{W}highlight") is not None for each in properties):
            return True
        around = [run, *run.iterancestors()]
        if any(node.tag in BACKED for node in around):
            return True
        shades = [shade for node in (*properties, *self._paragraph(run)) for shade in node.iter(f"{W}shd")]
        return any(shade.get(f"{W}fill", "") not in PLAIN for shade in shades)

    def _paragraph(self, run: Any) -> Iterator[Any]:
        """Yield the elements that may shade the paragraph of a run."""
        for paragraph in run.iterancestors(f"{W}p"):
            properties = paragraph.find(f"{W}pPr")
            if properties is not None:
                yield properties
                style = self._styles.get(value(properties, "pStyle") or "")
                yield from () if style is None else (style,)


def _has_suspects(part: Any) -> bool:
    """Whether the part has any property that could hide text."""
    return (
        next(part.iter(f"{W}vanish"), None) is not None
        or any(_is_white(node.get(f"{W}val")) for node in part.iter(f"{W}color"))
        or any(_is_tiny(node.get(f"{W}val")) for node in part.iter(f"{W}sz"))
    )


def _first(properties: list[Any], name: str) -> str | None:
    return next((found for each in properties if (found := value(each, name)) is not None), None)


def _is_tiny(size: str | None) -> bool:
    return size is not None and size.isdigit() and int(size) < TINY


def _is_white(colour: str | None) -> bool:
    try:
        return colour is not None and len(colour) == 6 and min(bytes.fromhex(colour)) >= WHITE
    except ValueError:  # "auto"
        return False


# --- PowerPoint --------------------------------------------------------------------------------------------


def take_hidden(slide: Any, size: Size) -> str:
    """Remove shapes outside the slide or switched off, and tiny or transparent text; return their text."""
    found = []
    for shape in list(slide.shapes):
        if _is_off(shape) or _is_outside(shape, size):
            found += [node.text or "" for node in shape._element.iter(f"{DRAWING}t")]
            shape._element.getparent().remove(shape._element)
    for run in list(slide.shapes._spTree.iter(f"{DRAWING}r")):
        text = run.find(f"{DRAWING}t")
        if text is not None and _is_faint(run.find(f"{DRAWING}rPr")):
            found.append(text.text or "")
            run.getparent().remove(run)
    return fold_spaces(" ".join(found))


def _is_off(shape: Any) -> bool:
    properties = next(shape._element.iter("{*}cNvPr"), None)
    return properties is not None and properties.get("hidden") in ("1", "true")


def _is_outside(shape: Any, size: Size) -> bool:
    if None in (shape.left, shape.top, shape.width, shape.height) or not all(size):
        return False
    across = shape.left + shape.width <= 0 or shape.left >= size[0]
    return bool(across or shape.top + shape.height <= 0 or shape.top >= size[1])


def _is_faint(look: Any) -> bool:
    if look is None:
        return False
    given = look.get("sz") or ""
    alpha = look.find(f"{DRAWING}solidFill/*/{DRAWING}alpha")
    return (given.isdigit() and int(given) < TINY_ON_SLIDES) or (
        alpha is not None and alpha.get("val") in ("0", "0%")
    )
