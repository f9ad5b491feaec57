"""What parts data from instructions: a fence nobody can have foreseen, and text that can't pose as more.

Documents are hostile: whoever writes one may hope that a model reads it. Their words go out between two lines
with a random string in them, and what could pose as such a line, as a marker, as markup of ours or as a turn
of the conversation is broken. Only what the model reads is changed; quotes come from the stored text.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NewType, Self

FencedText = NewType("FencedText", str)
"""Text that may be put before a model: lines of a fence, with harmless text between them.

A request takes nothing else, so that the type checker finds a text that did not pass here.
"""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
# A run begins once: begun again at each of its characters, it would take the square of its length.
_FENCE = re.compile(r"(?<!=)={3,}+(?=[ \t]*+[0-9a-f]{8})", re.IGNORECASE)
_REFERENCE = re.compile(r"\[(\s*\^?\d{1,4}(?:\s*[,;&/–—-]\s*\^?\d{1,4}){0,19}\s*)\]")
_POSES = re.compile(
    r"""
      [<＜\[(【] (?= \s*+ (?:/\s*+)? sources? [\s_:\#.-]* \d )        # markers, as models misspell them too
    | 【 (?= \s* \d )
    | [<＜] (?= \s*+ (?:/\s*+)? (?:web_)? citation )                 # what markers become
    | [<＜] (?= [|｜] \S{1,64} > | \w{1,32} [|｜] > )            # <|im_start|>, <｜User｜>, <turn|>
    | [<＜] (?= <? /? \s* (?: s | sys | system | user | human | assistant | developer | inst
                           | think(?:ing)? | tool_\w{1,32} | (?:start|end)_of_\w{1,32} ) \s* > )
    | \[ (?= /? (?: INST | SYSTEM_PROMPT | AVAILABLE_TOOLS | TOOL_\w{1,32} ) \] | \| \w{1,32} \|\] )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BROKEN = str.maketrans("<＜[(【", "‹‹⟦⦅〔")


@dataclass(frozen=True, slots=True)
class Fence:
    """The fence of one request."""

    secret: str

    @classmethod
    def new(cls) -> Self:
        """Return a fence of 128 random bits."""
        return cls(secrets.token_hex(16))

    @property
    def end(self) -> FencedText:
        """The line behind what is data."""
        return FencedText(f"===== {self.secret} end =====")

    def begin(self, name: str) -> FencedText:
        """Return the line before what is data."""
        return FencedText(f"===== {self.secret} {name} =====")

    def around(self, name: str, text: str) -> FencedText:
        """Return a text between the lines, made harmless."""
        return FencedText(f"{self.begin(name)}\n{self.harmless(text)}\n{self.end}")

    def harmless(self, text: str) -> str:
        """Return a text that can't pose as more, nor as this fence."""
        return harmless(text).replace(self.secret, "")


def joined_texts(texts: Iterable[FencedText]) -> FencedText:
    """Return several as one, an empty line between each two."""
    return FencedText("\n\n".join(texts))


def harmless(text: str) -> str:
    """Return `text` without what people can't see, and with what could pose as ours or as a turn broken."""
    # First what is invisible: it could part the letters of what is looked for afterwards.
    seen = _CONTROL.sub(" ", _INVISIBLE.sub("", text))
    unfenced = _REFERENCE.sub(r"(\1)", _FENCE.sub("", seen))
    return _POSES.sub(lambda found: found.group().translate(_BROKEN), unfenced)
