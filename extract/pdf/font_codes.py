r"""What old fonts of TeX give otherwise than as characters: ligatures, quotation marks, letters with accents.

Fonts without a table of characters give their codes: “in\x1duence”. MuPDF takes these for white space, so the
word would be parted, and the letters lost. Accents are drawn over their letters: “sol´eno¨ıde”. Glyphs of
drawn fonts are named after their codes, “a65” for A. Dingbats have such names, too: Ghostscript makes it ❆.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

# The encoding T1 of TeX's newer fonts, and the ligatures of the older OT1, which stand at other codes.
T1 = {
    "\x10": "“",
    "\x11": "”",
    "\x12": "„",
    "\x13": "«",
    "\x14": "»",
    "\x15": "–",
    "\x16": "—",
    "\x1b": "ff",
    "\x1c": "fi",
    "\x1d": "fl",
    "\x1e": "ffi",
    "\x1f": "ffl",
}
OT1 = {"\x0b": "ff", "\x0c": "fi", "\x0d": "fl", "\x0e": "ffi", "\x0f": "ffl"}
T1_LIGATURES = re.compile(r"(?<=[^\W\d_])[\x1b-\x1f]|[\x1b-\x1f](?=[^\W\d_])")
OT1_LIGATURES = re.compile(r"(?<=[^\W\d_])[\x0b-\x0f]|[\x0b-\x0f](?=[^\W\d_])")
CODES = re.compile(r"[\x0b-\x1f]")
DINGBATS = (
    "✁✂✄☎✆✝✞✟✠✡☛☞✌✍✎✏✑✒✓✔✕✖✗✘✙✚✛✜✢✣✤✥✦✧★✩✪✫✬✭✮✯✰✱✲✳✴✵✶✷✸✹"
    "✺✻✼✽✾✿❀❁❂❃❄❅❆❇❈❉❊❋●❍■❏❑▲▼◆❖ ◗❘❙❚❯❱❲❳❨❩❬❭❪❫❴❵❛❜❝❞❡❢❣❤"
    "✐❥❦❧♠♥♦♣    ✉✈✇①②③④⑤⑥⑦⑧⑨⑩❶❷❸❹❺❻❼❽❾❿➀➁➂➃➄➅➆➇➈➉➊➋➌➍➎➏➐"
    "➑➒➓➔→➣↔↕➙➛➜➝➞➟➠➡➢➤➥➦➧➨➩➫➭➯➲➳➵➸➺➻➼➽➾➚➪➶➹➘➴➷➬➮➱✃❐❒❮❰"
)
"""The characters of the glyphs a1 to a206; blanks for those that are none (Adobe's list zapfdingbats.txt)."""
CODE_OF = {character: chr(code) for code, character in enumerate(DINGBATS, start=1) if character != " "}
DINGBAT = re.compile(rf"[{''.join(CODE_OF)}]")
IN_WORD = re.compile(rf"(?<=[{''.join(CODE_OF)}A-Za-z])[{''.join(CODE_OF)}](?=[{''.join(CODE_OF)}A-Za-z])")
# Dingbats rate, list and count things; text has vowels.
VOWELS, FEWEST_VOWELS = {dingbat for dingbat, code in CODE_OF.items() if code in "aeio"}, 3
# TeX's blanks are at least so wide, in sizes of the type. MuPDF finds none between dingbats.
BLANK = 0.18
# Accents that stand alone, and those that go with a letter.
ACCENTS = {
    "`": "\u0300",
    "´": "\u0301",
    "ˆ": "\u0302",
    "˜": "\u0303",
    "¯": "\u0304",
    "˘": "\u0306",
    "˙": "\u0307",
    "¨": "\u0308",
    "˚": "\u030a",
    "˝": "\u030b",
    "ˇ": "\u030c",
    "¸": "\u0327",
    "˛": "\u0328",
}
BESIDE_LETTER = re.compile(rf"[{''.join(ACCENTS)}][^\W\d_]|[^\W\d_][¸˛]")
WITHOUT_DOT = {"ı": "i", "ȷ": "j"}
# The middle of an accent is so near to that of its letter, in widths of the letter.
SAME_MIDDLE = 0.3
# As MuPDF reports words: box, characters, and the numbers of block, line and word.
Word = tuple[float, float, float, float, str, int, int, int]


def has_codes(content: dict[str, Any]) -> bool:
    """Whether a page's dictionary holds codes in place of characters, or accents apart from their letters."""
    lines = ["".join(span["text"] for span in line["spans"]) for line in _lines(content)]
    return _are_dingbats_letters(lines) or any(
        BESIDE_LETTER.search(text) or (CODES.search(text) and _encoding(text)) for text in lines
    )


def decode(content: dict[str, Any]) -> tuple[dict[str, Any], list[Word]]:
    """Return a page's dictionary with characters in place of codes, and its words.

    `content` is MuPDF's dictionary with each character; its spans get their texts.
    """
    lines = ["".join(char["c"] for char in _chars(line)) for line in _lines(content)]
    if _are_dingbats_letters(lines):
        _put_codes(content)
    everything = "".join(char["c"] for line in _lines(content) for char in _chars(line))
    encoding = _encoding(everything) or {}
    words: list[Word] = []
    for block in content["blocks"]:
        for number, line in enumerate(block.get("lines", ())):
            chars = _chars(line)
            for char, letters in zip(chars, _decoded([char["c"] for char in chars], encoding), strict=True):
                char["c"] = letters
            _put_accents(chars)
            for span in line["spans"]:
                span["chars"] = [char for char in span["chars"] if char["c"]]
                span["text"] = "".join(char["c"] for char in span["chars"])
            words += [
                (*box, text, block["number"], number, at)
                for at, (text, box) in enumerate(_words(_chars(line)))
            ]
    return content, words


def _lines(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for block in content["blocks"]:
        yield from block.get("lines", ())


def _chars(line: dict[str, Any]) -> list[dict[str, Any]]:
    return [char for span in line["spans"] for char in span["chars"]]


def _are_dingbats_letters(lines: Iterable[str]) -> bool:
    """Whether most dingbats of a page stand within words, vowels among them."""
    text = "\n".join(lines)
    in_words = IN_WORD.findall(text)
    return len(VOWELS & {*in_words}) >= FEWEST_VOWELS and 2 * len(in_words) > len(DINGBAT.findall(text))


def _put_codes(content: dict[str, Any]) -> None:
    """Put the codes in place of the dingbats, and blanks where there are gaps."""
    for line in _lines(content):
        end = None
        for span in line["spans"]:
            chars = []
            for char in span["chars"]:
                char["c"] = CODE_OF.get(char["c"], char["c"])
                left, top, right, bottom = char["bbox"]
                if end is not None and left - end > BLANK * span["size"]:
                    chars.append({"c": " ", "bbox": (end, top, left, bottom)})
                end = right
                chars.append(char)
            span["chars"] = chars


def _encoding(text: str) -> dict[str, str] | None:
    """Return the encoding by whose ligatures most letters stand, None if there are none."""
    newer, older = (len(each.findall(text)) for each in (T1_LIGATURES, OT1_LIGATURES))
    if not newer and not older:
        return None
    return T1 if newer >= older else OT1


def _decoded(codes: Sequence[str], encoding: dict[str, str]) -> Iterator[str]:
    """Yield a line's characters; a ligature without a letter beside it would be a sign of a formula."""
    for at, code in enumerate(codes):
        is_ligature = encoding.get(code, "").isalpha()
        beside = [*codes[max(at - 1, 0) : at], *codes[at + 1 : at + 2]]
        yield code if is_ligature and not any(map(str.isalpha, beside)) else encoding.get(code, code)


def _put_accents(chars: Sequence[dict[str, Any]]) -> None:
    """Put each accent on the letter over which it is drawn; what was the accent's character is then empty."""
    for first, second in pairwise(chars):
        for accent, letter in ((first, second), (second, first)):
            base = WITHOUT_DOT.get(letter["c"], letter["c"])
            if accent["c"] in ACCENTS and base.isalpha() and _is_over(accent["bbox"], letter["bbox"]):
                whole = unicodedata.normalize("NFC", base + ACCENTS[accent["c"]])
                if len(whole) == 1:
                    letter["c"], letter["bbox"], accent["c"] = whole, _box((accent, letter)), ""
                    break


def _is_over(accent: Sequence[float], letter: Sequence[float]) -> bool:
    """Whether the middle of an accent is that of a letter."""
    apart = abs(accent[0] + accent[2] - letter[0] - letter[2]) / 2
    return apart <= SAME_MIDDLE * (letter[2] - letter[0])


def _words(chars: Iterable[dict[str, Any]]) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    """Yield the words of a line with their boxes, as MuPDF parts them."""
    word: list[dict[str, Any]] = []
    for char in [*chars, {"c": " "}]:
        if char["c"] <= " " or char["c"] == "\xa0":
            if word:
                yield "".join(each["c"] for each in word), _box(word)
            word = []
        else:
            word.append(char)


def _box(chars: Sequence[dict[str, Any]]) -> tuple[float, float, float, float]:
    boxes = [char["bbox"] for char in chars]
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )
