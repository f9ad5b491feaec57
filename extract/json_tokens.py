"""A tokenizer for JSON that knows each token's line, accepts any depth of nesting and needs little memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_DEPTH = 200
TOKEN = re.compile(
    r"""
    (?P<mark>[{}\[\],:])
    | (?<!\\)(?P<string>"(?:[^"\\\x00-\x1f]++|\\.)*+")
    | (?<![\w.])(?P<literal>-?\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+|true|false|null|NaN|-?Infinity)(?![\w.])
    """,
    re.VERBOSE,
)
BLANKS = re.compile(r"\s*+")
TOKEN_START = re.compile(r"\"|-?\w{0,20}\Z")
"""The possible beginnings of a token that was cut off."""


class Malformed(ValueError):
    """The text is not JSON; `line` (from 1) is where parsing failed."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(f"no JSON from line {line} on")


class TooDeep(Malformed):
    """The nesting of brackets is too deep."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that holds no other values: its path of keys and indexes, its text, and its line (from 1)."""

    path: tuple[str | int, ...]
    text: str
    line: int


def tokens(text: str, *, may_be_cut: bool = False) -> Iterator[tuple[str, str, int]]:
    """Yield (group, token, line); raise `Malformed` if the brackets and tokens can't be JSON."""
    at, line, depth = 0, 1, 0
    while match := TOKEN.match(text, _skip_blanks(text, at)):
        line += text.count("\n", at, match.start())
        piece = match[match.lastgroup or 0]
        depth += (piece in ("{", "[")) - (piece in ("}", "]"))
        if depth < 0 or (depth == 0 and piece in (",", ":")):
            raise Malformed(line)
        if depth == 0 and match.lastgroup != "mark" and at:
            raise Malformed(line)
        yield match.lastgroup or "", piece, line
        at = match.end()
    at = _skip_blanks(text, at)
    rest_is_cut = may_be_cut and depth > 0 and TOKEN_START.match(text, at)
    if at < len(text) and not rest_is_cut:
        raise Malformed(line)


def leaves(text: str) -> Iterator[Leaf]:
    """Yield the values of a JSON text, or of JSON values line by line, in order; raise `Malformed`.

    The first step of each path is the number of the value among those of the file.
    """
    path: list[str | int] = [-1]
    expects_key = False
    for group, piece, line in tokens(text):
        inside = path[-1] if path else None
        if piece in ("{", "[") and group == "mark":
            _step(path)
            path.append("" if piece == "{" else -1)
            expects_key = piece == "{"
            if len(path) > MAX_DEPTH:
                raise TooDeep(line)
        elif piece in ("}", "]") and group == "mark":
            if (piece == "}") != isinstance(inside, str):
                raise Malformed(line)
            path.pop()
            expects_key = False
        elif piece == ",":
            expects_key = isinstance(inside, str)
        elif piece == ":":
            expects_key = False
        elif expects_key:
            if group != "string":
                raise Malformed(line)
            path[-1] = unquote(piece, line)
        else:
            _step(path)
            yield Leaf(tuple(path), unquote(piece, line) if group == "string" else piece, line)
    if len(path) != 1:
        raise Malformed(text.count("\n") + 1)


def unquote(piece: str, line: int) -> str:
    """Return the text that a string token stands for."""
    if "\\" not in piece:
        return piece[1:-1]
    try:
        value: str = json.loads(piece)
    except ValueError as error:
        raise Malformed(line) from error
    return value


def _skip_blanks(text: str, at: int) -> int:
    blanks = BLANKS.match(text, at)
    return blanks.end() if blanks else at


def _step(path: list[str | int]) -> None:
    """Advance to the next item if the innermost container is a list."""
    if isinstance(path[-1], int):
        path[-1] += 1
