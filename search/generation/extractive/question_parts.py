"""A question and what is said besides: how to answer it, and what its words are to mean.

“You are an analyst. What is Adobe's FY2022 quick ratio? Quick ratio is defined as: (cash + receivables) /
current liabilities. Round to two decimals.”

─▶ question     “What is Adobe's FY2022 quick ratio?”
   definitions  quick ratio: “(cash + receivables) / current liabilities”
   places       2
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.text.sentences import sentence_bounds
from search.generation.extractive.measures import measure_of, words_of_measures
from search.question_language import language_of

MOST_DEFINITIONS = 8
_INTERROGATIVE = (
    r"(?:what|which|how|who|when|where|why|is|are|was|were|does|do|did|has|have|can|was|wie|welche\w?)\b"
)
_PREAMBLE = re.compile(
    rf"\A(?=[^?]{{0,300}}\b(?:question|answer|respond|task)\b)[^?]{{1,300}}:\s++(?={_INTERROGATIVE})",
    re.IGNORECASE,
)
"""What stands in the sentence that asks before its question begins: “Answer the following question: ”."""
_MEANS = re.compile(
    rf"\A(?:by )?(?:using|assuming|relying|drawing)\b[^?,]{{1,200}},\s++(?={_INTERROGATIVE})", re.IGNORECASE
)
_IS = r"(?:(?:is|are|was|being|can be) )?(?:defined|calculated|computed)(?: here)? as:?|="
_DEFINED = (
    re.compile(rf"\A(?P<name>[^.:=?,]{{2,100}}?),? ?(?:{_IS})\s++(?P<formula>[^=]{{3,400}})", re.IGNORECASE),
    re.compile(
        r"\A(?:please )?(?:define|calculate|compute|take) (?P<name>[^.:=]{2,100}?) as:?"
        r"\s++(?P<formula>.{3,400})",
        re.IGNORECASE,
    ),
    re.compile(
        r"\A(?:please )?(?P<name>use|take|apply):?\s++(?P<formula>[^=]{3,200}\s[*/÷×+−-]\s.{3,200})",
        re.IGNORECASE,
    ),
)
_IS_WITHIN = re.compile(r"\b(?:defined|calculated|computed)(?: here)? as:?\s|\s=\s", re.IGNORECASE)
_COMPUTES = re.compile(
    r"\s[*/÷×+−-]\s|\b(?:divided by|over|plus|minus|less|times|geteilt durch|abzüglich|zuzüglich"
    r"|weniger|divisée?s? par"
    r"|moins|dividid[oa]s? (?:por|entre)|menos|más)\b",
    re.IGNORECASE,
)
_EXPLAINED = re.compile(
    r"\s?\((?:(?:i\.e\.|that is|meaning|d\. ?h\.|das heißt|c['’]est-à-dire"
    r"|es decir),? )?(?P<aside>[^()]{8,200})\)"
    r"|,? (?:i\.e\.|that is|meaning|d\. ?h\.|das heißt|c['’]est-à-dire"
    r"|es decir),? (?P<behind>[^?]{8,200}?)(?=\s?\?|\Z)",
    re.IGNORECASE,
)
"""What is said in other words behind it: “free cash flow (operating cash flow minus capex)”."""
_JOINING = re.compile(r"\A(?:with|where|when|if|and|that)\b|\b(?:is|are|being)\Z", re.IGNORECASE)
CHARS_OF_NAME = 60
_ASIDE = re.compile(
    r"\s\((?:[A-Za-z&]{2,8}|using [^()]{1,120}"
    r"|(?![^()]*per ?cent)[^()]{0,60}\b(?:millions?|billions?|thousands?|decimals?)\b[^()]{0,60})\)"
    r"|, (?:using|based on|relying on)\b[^?()]{1,160}(?=\?\Z)|\s%(?=\smargin)",
    re.IGNORECASE,
)
"""An abbreviation of what stands before it, how to answer, and what changes nothing."""
_ORDER = re.compile(
    r"\A(?:please )?(?:you are|assume|imagine|suppose|act as|answer|give|respond|reply|round|express"
    r"|state your|base|use only|show your|make sure)\b"
    r"|\Aif\b.{1,200}?(?:,|\bthen|\bplease)\s(?:then |please )?"
    r"(?:state|explain|say|answer|reply|respond|mention)\b",
    re.IGNORECASE,
)
"""What begins a sentence that says who is asked, or how to answer."""
_ARTICLE = re.compile(r"\A(?:the|a|an|here|where) ", re.IGNORECASE)
_IN_PARENTHESES = re.compile(r"\(([^()]{1,40})\)")
_COUNTS = {"no": 0, "one": 1, "two": 2, "three": 3, "four": 4}
_PLACES = re.compile(rf"\b({'|'.join(_COUNTS)}|[0-4]) decimals?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuestionParts:
    """`question` is what asks, `subject` all but definitions and orders, which is what to look for.

    `definitions` are formulas in words by what they define, in small letters. `places` is to how many decimal
    places the answer is to be rounded, if it is said.
    """

    question: str
    subject: str
    definitions: Mapping[str, str]
    places: int | None = None


def parts_of_question(text: str) -> QuestionParts:
    """Take a question apart. Where no sentence ends with a question mark, all but the definitions asks."""
    definitions: dict[str, str] = {}
    others: list[str] = []
    said = " ".join(text.split())
    for sentence in (said[start:end] for start, end in sentence_bounds(said, language_of(said))):
        defined = next((found for each in _DEFINED if (found := each.match(sentence))), None)
        if defined is None or "?" in sentence or not words_of_measures(defined["formula"]):
            others.append(sentence)
        elif len(definitions) < MOST_DEFINITIONS:
            definitions |= _defined(defined["name"], defined["formula"])
    if not others:
        return QuestionParts(text, text, {})
    asking = " ".join([sentence for sentence in others if sentence.endswith("?")] or others)
    asking, defined_within = _without_definition(asking)
    asking, explained = _without_explanation(asking)
    definitions |= defined_within | explained
    subject = [sentence for sentence in others if sentence in asking or not _ORDER.match(sentence)]
    places = _PLACES.search(text)
    count = places[1].casefold() if places else ""
    return QuestionParts(
        _ASIDE.sub("", _MEANS.sub("", _PREAMBLE.sub("", asking))),
        " ".join(_PREAMBLE.sub("", sentence) for sentence in subject),
        definitions,
        _COUNTS.get(count, int(count) if count.isdigit() else None),
    )


def _without_definition(asking: str) -> tuple[str, dict[str, str]]:
    """Return a question without the formula at its end, and that: “…, with ROE = net income / equity?”."""
    within = _IS_WITHIN.search(asking)
    if within is None or not _COMPUTES.search(asking, within.end()):
        return asking, {}
    if not words_of_measures(asking[within.end() :]):
        return asking, {}
    before = asking[: within.start()].rstrip()
    cut = max(before.rfind(","), before.rfind("("))
    if cut < max(0, len(before) - CHARS_OF_NAME):
        cut = len(before)
    name = _JOINING.sub("", before[cut:].strip(" ,(")).strip()
    return f"{before[:cut].rstrip(' ,(')}?", _defined(name, asking[within.end() :])


def _without_explanation(asking: str) -> tuple[str, dict[str, str]]:
    """Return a question without the formula that says what it asks for in other words, and that formula."""
    for explained in _EXPLAINED.finditer(asking):
        formula = explained["aside"] or explained["behind"]
        if _COMPUTES.search(formula) and words_of_measures(formula):
            before = asking[: explained.start()]
            named = measure_of(before)
            name = named[1][0] if named and not named[0].is_line else "it"
            return before + asking[explained.end() :], _defined(name, formula)
    return asking, {}


def _defined(name: str, words: str) -> dict[str, str]:
    """Return a formula by each name of what it defines; “it” is what the question asks for."""
    formula = words.rstrip(" .;?")
    if formula.count(")") > formula.count("("):
        formula = formula.removesuffix(")")
    return dict.fromkeys(_names(name or "it"), formula)


def _names(name: str) -> list[str]:
    """Return what is defined: “days payable outstanding (DPO)” has two names."""
    short = _IN_PARENTHESES.findall(name)
    long = " ".join(_IN_PARENTHESES.sub(" ", name).split())
    names = (_ARTICLE.sub("", each).casefold().strip(" “”\"'") for each in (long, *short))
    return list(filter(None, names))
