"""Tokens of JavaScript: enough of them to find texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_WORD = re.compile(r"[\w$#]+")
_TEXT = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")
_PATTERN = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0"}
# After these a slash begins a pattern; after a value it divides.
_BEFORE_A_PATTERN = set("(,=:[!&|?{};+-*%<>~^")
_WORDS_BEFORE_A_PATTERN = {"return", "typeof", "case", "in", "of", "await", "yield", "delete", "void"}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of source: `kind` is word, text, template, pattern or sign.

    The value of a text is without quotes and escapes; that of a template has `{}` for each expression. The
    tokens of its expressions follow it.
    """

    kind: str
    value: str
    line: int


def tokens_of(source: str) -> Iterator[Token]:
    """Yield the tokens of a module."""
    position, last = 0, Token("sign", ";", 1)
    while position < len(source):
        if found := _SPACE.match(source, position):
            position = found.end()
            continue
        line = source.count("\n", 0, position) + 1
        inner: list[Token] = []
        if source[position] == "`":
            last, inner, position = _template(source, position, line)
        elif found := _TEXT.match(source, position):
            last, position = Token("text", unescaped(found[0][1:-1]), line), found.end()
        elif found := _WORD.match(source, position):
            last, position = Token("word", found[0], line), found.end()
        elif (
            source[position] == "/"
            and _may_begin_pattern(last)
            and (found := _PATTERN.match(source, position))
        ):
            last, position = Token("pattern", found[0], line), found.end()
        else:
            last, position = Token("sign", source[position], line), position + 1
        yield last
        yield from inner


def unescaped(text: str) -> str:
    """Return a text without escapes."""

    def character(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        return chr(int(code, 16)) if code else _LETTERS.get(found[4], found[4])

    return _ESCAPE.sub(character, text)


def _may_begin_pattern(last: Token) -> bool:
    if last.kind == "sign":
        return last.value in _BEFORE_A_PATTERN
    return last.kind == "word" and last.value in _WORDS_BEFORE_A_PATTERN


def _template(source: str, start: int, line: int) -> tuple[Token, list[Token], int]:
    """Return a template literal, the tokens of its expressions, and where it ends."""
    inner: list[Token] = []
    words, position = "", start + 1
    while position < len(source) and source[position] != "`":
        if source.startswith("${", position):
            end = _end_of_expression(source, position + 2)
            inner += tokens_of(source[position + 2 : end])
            words, position = words + "{}", end + 1
        elif source[position] == "\\":
            words, position = words + unescaped(source[position : position + 2]), position + 2
        else:
            words, position = words + source[position], position + 1
    return Token("template", words, line), inner, position + 1


def _end_of_expression(source: str, position: int) -> int:
    """Return where the brace closes that opened before `position`."""
    depth = 0
    while position < len(source):
        character = source[position]
        if character == "`":
            position = _template(source, position, 0)[2]
            continue
        if found := _TEXT.match(source, position):
            position = found.end()
            continue
        if character == "}" and depth == 0:
            return position
        depth += {"{": 1, "}": -1}.get(character, 0)
        position += 1
    return position
