"""Removes text that a page hides by attributes and inline styles, before the page is read.

Style sheets and scripts are not evaluated: what they hide they also show, for instance when somebody opens a
menu.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from lxml import etree

from extract.base import Element, Kind
from extract.places import element, fold_spaces

DECLARATION = re.compile(r"(?<![\w-])([\w-]++)\s*+:\s*+([^;]++)")
LENGTH = re.compile(r"(?<![\d.])(-?(?:\d++(?:\.\d++)?+|\.\d++))(px|pt|em|rem|%)$")
# Pixels of each unit at the usual size of type.
PIXELS = {"px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "%": 0.16}
TINY_PIXELS = 2.5
OFF_SCREEN = -500.0
OPAQUE_ENOUGH = 0.05
SAME = 16
NAMED = {"white": "ffffff", "black": "000000"}
# At most as many digits as `int` accepts.
RGB = re.compile(r"rgba?\(\s*+(\d{1,9})[\s,]++(\d{1,9})[\s,]++(\d{1,9})")
SETTINGS = ("style", "color", "bgcolor", "background")
NO_TEXT = frozenset({"script", "style", "template", "noscript", "head", "title"})

Style = dict[str, str]


@dataclass(frozen=True, slots=True)
class Look:
    """How text is drawn, inherited by child nodes: colours as six hex digits, type size in pixels."""

    colour: str = "000000"
    background: str = "ffffff"
    size: float = 16.0
    is_visible: bool = True
    is_hidden: bool = False
    """Whether the text can't be read, as the result of all other fields."""

    def within(self, node: etree._Element) -> Look:
        """Return the look of a child node's text, given this look of its parent."""
        settings = tuple(map(node.get, SETTINGS))
        return _look_within(self, *settings) if any(settings) else self


# Consecutive paragraphs usually have the same style.
@lru_cache(1024)
def _look_within(
    around: Look, declared: str | None, colour: str | None, own_background: str | None, picture: str | None
) -> Look:
    style = _style(declared)
    size = _pixels(style.get("font-size", ""))
    visibility = style.get("visibility")
    look = Look(
        colour=_hex(style.get("color") or colour or around.colour),
        background=_background_of(style, own_background, picture) or around.background,
        size=around.size if size is None else size,
        is_visible=around.is_visible if visibility is None else visibility == "visible",
    )
    return replace(look, is_hidden=_is_unreadable(look))


def _is_unreadable(look: Look) -> bool:
    is_camouflaged = look.colour == "transparent" or are_alike(look.colour, look.background)
    return not look.is_visible or look.size < TINY_PIXELS or is_camouflaged


def are_alike(colour: str, other: str) -> bool:
    """Whether two colours of six hex digits can't be told apart; False if one of them is no such colour."""
    if len(colour) != 6 or len(other) != 6:
        return False
    return all(
        abs(one - two) <= SAME for one, two in zip(bytes.fromhex(colour), bytes.fromhex(other), strict=True)
    )


def take_hidden(root: etree._Element) -> list[Element]:
    """Remove hidden text from the tree; return it as an element, or no element if there is none."""
    if not root.xpath("boolean(.//@style|.//@hidden|.//font/@color)"):
        return []
    page = Look() if not root.xpath("boolean(.//style|.//link)") else replace(Look(), background="?")
    text = fold_spaces(" ".join(_take_texts(root, page)))
    return [element(Kind.HIDDEN, text)] if text else []


def _take_texts(root: etree._Element, page: Look) -> Iterator[str]:
    """Yield hidden texts in document order, and remove them."""
    looks, gone = [page], []
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, node in walker:
        if event == "start":
            looks.append(looks[-1].within(node))
            if node.get("hidden") is not None or _is_switched_off(node.get("style")):
                yield from _texts(node)
                gone.append(node)
                walker.skip_subtree()
            elif looks[-1].is_hidden and node.tag not in NO_TEXT:
                yield node.text or ""
                node.text = None
        else:
            looks.pop()
            if looks[-1].is_hidden:
                yield node.tail or ""
                node.tail = None
    for node in gone:
        _remove(node)


def _style(declared: str | None) -> Style:
    given = (declared or "").lower().replace("!important", "")
    return {name: value.strip() for name, value in DECLARATION.findall(given)}


@lru_cache(1024)
def _is_switched_off(declared: str | None) -> bool:
    """Whether a style hides the node with all that is in it."""
    style = _style(declared)
    if style.get("display") == "none":
        return True
    has_no_room = "hidden" in style.get("overflow", "") and any(
        _pixels(style.get(side, "")) == 0 for side in ("height", "max-height", "width", "max-width")
    )
    return has_no_room or _opacity(style.get("opacity", "1")) < OPAQUE_ENOUGH or _is_off_screen(style)


def _opacity(given: str) -> float:
    number = given.removesuffix("%")
    try:
        return float(number) * (0.01 if number != given else 1)
    except ValueError:
        return 1.0


def _is_off_screen(style: Style) -> bool:
    is_placed = style.get("position") in ("absolute", "fixed")
    sides = ("left", "top", "right", "bottom", "text-indent") if is_placed else ("text-indent",)
    return any((_pixels(style.get(side, "")) or 0) <= OFF_SCREEN for side in sides)


def _pixels(length: str) -> float | None:
    match = LENGTH.match(length)
    if match:
        return float(match[1]) * PIXELS[match[2]]
    return 0.0 if length == "0" else None


def _background_of(style: Style, colour: str | None, picture: str | None) -> str | None:
    """Return the background that a node sets: "?" if it is not a plain colour, None if it sets none."""
    if "background-image" in style or picture:
        return "?"
    given = style.get("background-color") or style.get("background") or colour
    return None if given in (None, "none", "transparent", "inherit") else _hex(str(given)) or "?"


def _hex(colour: str) -> str:
    """Return a colour as six hex digits, "" for an unknown one."""
    plain = colour.strip().lower()
    plain = NAMED.get(plain, plain).removeprefix("#")
    if match := RGB.match(plain):
        return "".join(f"{min(int(part), 255):02x}" for part in match.groups())
    if re.fullmatch("[0-9a-f]{3}", plain):
        return "".join(2 * digit for digit in plain)
    return plain if re.fullmatch("[0-9a-f]{6}|transparent", plain) else ""


def _texts(node: etree._Element) -> Iterator[str]:
    for each in node.iter():
        if each.tag not in NO_TEXT:
            yield each.text or ""
        if each is not node:
            yield each.tail or ""


def _remove(node: etree._Element) -> None:
    """Remove a node from the tree, but not the text that follows it."""
    parent, before = node.getparent(), node.getprevious()
    if parent is None:
        return
    tail, node.tail = node.tail or "", None
    if before is not None:
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    parent.remove(node)
