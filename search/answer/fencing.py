"""What parts data from instructions: a fence nobody can have foreseen, and text that can't pose as more.

Documents are hostile: whoever writes one may hope that a model reads it. Their words go out between two lines
with a random string in them, and what could pose as such a line, as a marker, as markup of ours or as a turn
of the conversation is broken. Only what the model reads is changed; quotes come from the stored text.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from search.answer.base import Context

LONGEST_LABEL = 200
"""Characters of a document's name or of its headings that a model reads."""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_FENCE = re.compile(r"={3,}(?=[ \t]*[0-9a-f]{8})", re.IGNORECASE)
_REFERENCE = re.compile(r"\[(\s*\^?\d{1,4}(?:\s*[,;&/–—-]\s*\^?\d{1,4}){0,19}\s*)\]")
_POSES = re.compile(
    r"""
      [<＜\[(【] (?= \s* /? \s* sources? [\s_:\#.-]* \d )        # markers, as models misspell them too
    | 【 (?= \s* \d )
    | [<＜] (?= \s* /? \s* (?:web_)? citation )                 # what markers become
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
    def new(cls) -> Fence:
        """Return a fence of 128 random bits."""
        return cls(secrets.token_hex(16))

    def source(self, context: Context, text: str) -> str:
        """Return a context's `text` between its fences, led by where it stands."""
        return self._around(f"source_{context.rank}", f"{self._place(context)}\n\n{self._harmless(text)}")

    def question(self, text: str) -> str:
        """Return the question between its fences."""
        return self._around("question", self._harmless(text))

    def _around(self, name: str, text: str) -> str:
        return f"===== {self.secret} {name} =====\n{text}\n===== {self.secret} end ====="

    def _place(self, context: Context) -> str:
        page = f", page {context.chunk.page_number}" if context.chunk.page_number else ""
        lines = [f"Document: {self._label(context.document_name)}{page}"]
        if context.chunk.headings:
            lines.append(f"Section: {self._label(' > '.join(context.chunk.headings))}")
        return "\n".join(lines)

    def _label(self, text: str) -> str:
        return " ".join(self._harmless(text).split())[:LONGEST_LABEL]

    def _harmless(self, text: str) -> str:
        return harmless(text).replace(self.secret, "")


def harmless(text: str) -> str:
    """Return `text` without what people can't see, and with what could pose as ours or as a turn broken."""
    # First what is invisible: it could part the letters of what is looked for afterwards.
    seen = _CONTROL.sub(" ", _INVISIBLE.sub("", text))
    unfenced = _REFERENCE.sub(r"(\1)", _FENCE.sub("", seen))
    return _POSES.sub(lambda found: found.group().translate(_BROKEN), unfenced)
