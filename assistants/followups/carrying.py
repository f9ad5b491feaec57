"""What a follow-up takes over from the turns before, without a model.

An elliptic question is the question before with something replaced: “And the year before?” after “What was
the revenue in 2023?” is “What was the revenue in 2022?”. Any other follow-up keeps its own words and gets
what it points at behind them: “How many passengers did they carry? (Nordhavn Ferries, 2023)”.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from assistants.followups.base import SelfContained, Turn
from assistants.followups.reading import NamedPeriod, PeriodShift, Reading, WordSpan, is_code, lexicon_of
from assistants.followups.signals import (
    Dependence,
    dependence,
    is_about_person,
    points_at_document,
)

MOST_CARRIED = 8
"""So many informative words of the question before are added, at most."""
MOST_CHARS = 600
"""So much of an earlier question or answer is looked at."""


@dataclass(frozen=True)
class _Dialogue:
    """The question, and what may be carried into it; earlier turns last."""

    question: Reading
    asked: Sequence[Reading]
    turns: Sequence[Turn]

    @property
    def before(self) -> Reading:
        """The question before, self-contained."""
        return self.asked[0]

    def elsewhere(self) -> Iterator[Reading]:
        """Yield where else a period may stand: answers, names of documents, earlier questions."""
        for turn, asked in zip(self.turns, self.asked, strict=True):
            yield asked
            for text in (turn.answer, *turn.headings[:3], *turn.document_names[:1]):
                yield _read(text, self.question)


def by_rules(question: str, history: Sequence[Turn]) -> SelfContained:
    """Return the question with what it leaves out, from the last turns; `history` is not empty."""
    turns = history[::-1]
    lexicon = lexicon_of(question, turns[0].question[:MOST_CHARS])
    read = Reading(question, lexicon)
    kind = dependence(read)
    if kind is Dependence.NONE:
        return SelfContained(question, None, carried=False, by="nothing")
    dialogue = _Dialogue(read, [_read(turn.asked, read) for turn in turns], turns)
    text = _rewritten(dialogue, kind)
    documents = _documents(dialogue)
    carried = text != question or documents is not None
    return SelfContained(text, documents, carried=carried, by="rules" if carried else "nothing")


def _rewritten(dialogue: _Dialogue, kind: Dependence) -> str:
    if kind is Dependence.SCOPED:
        return dialogue.question.text
    return _replaced(dialogue) if kind is Dependence.ELLIPTIC else _extended(dialogue)


def _read(text: str, question: Reading) -> Reading:
    return Reading(text[:MOST_CHARS].replace("_", " ").strip(), question.lexicon)


def _documents(dialogue: _Dialogue) -> tuple[UUID, ...] | None:
    """Return the documents cited last where the question points at them."""
    if points_at_document(dialogue.question):
        return dialogue.turns[0].document_ids or None
    return None


# --- Elliptic questions: the question before, with something replaced ---------------------------------------


def _replaced(dialogue: _Dialogue) -> str:
    question, before = dialogue.question, dialogue.before
    if question.shift:
        return _shifted(dialogue, question.shift)
    if question.periods and not question.informative:
        return _with_periods(before, question.periods, question)
    rest = question.slice(question.opener, len(question.words))
    if not question.informative:
        return before.text if question.opener or not rest else f"{before.text} {question.text.strip()}"
    base = _with_periods(before, question.periods, question) if question.periods else before.text
    return (
        _with_phrase(_read(base, question), question)
        or _with_name(_read(base, question), question)
        or f"{base} {_sentence(rest)}"
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}?"


def _shifted(dialogue: _Dialogue, shift: PeriodShift) -> str:
    """Return the question before, for the period that is meant."""
    question, before = dialogue.question, dialogue.before
    moved = _moved(before.periods, shift)
    if moved:
        return _write(before, moved)
    for read in dialogue.elsewhere():
        if moved := _moved(read.periods, shift):
            return f"{_stripped(before.text)} ({', '.join(text for _, text in moved)})?"
    return f"{before.text} {_sentence(question.slice(shift.first, shift.last))}"


def _moved(periods: Sequence[NamedPeriod], shift: PeriodShift) -> list[tuple[WordSpan, str]] | None:
    """Return what the periods become; None where there is no period of this unit to move."""
    latest = {period.unit: period for period in sorted(periods, key=lambda period: period.value)}
    start, year = latest.get(shift.unit), latest.get("year")
    if start is None:
        return None
    if start.unit == "year":
        return [(start, str(start.value + shift.by))]
    years, index = divmod(start.value - 1 + shift.by, len(start.forms))
    moved: list[tuple[WordSpan, str]] = [(start, start.forms[index])]
    if year and years:
        moved.append((year, str(year.value + years)))
    return moved


def _with_periods(base: Reading, periods: Iterable[NamedPeriod], question: Reading) -> str:
    """Return the base with each period replaced by one of its unit, or added."""
    changes, added = [], []
    for period in periods:
        same = [old for old in base.periods if old.unit == period.unit]
        text = question.slice(period.first, period.last)
        if same:
            changes.append((same[-1], text))
        else:
            added.append(text)
    written = _write(base, changes)
    return f"{_stripped(written)} ({', '.join(added)})?" if added else written


def _with_phrase(base: Reading, question: Reading) -> str | None:
    """Return the base with “in Germany” replaced by “in Spain”; None if there is no such phrase."""
    prepositions = question.lexicon.prepositions
    starts = [at for at in range(question.opener, len(question.words)) if question.lows[at] in prepositions]
    if not starts or any(place < starts[0] for place in question.informative):
        return None
    new = _phrase(question, starts[0], len(question.informative))
    wanted = prepositions[question.lows[starts[0]]]
    for at in reversed(range(len(base.words))):
        if prepositions.get(base.lows[at]) != wanted:
            continue
        old = _phrase(base, at, len(question.informative))
        if old and new and _is_named(base, old) == _is_named(question, new):
            return _write(base, [(old, question.slice(new.first, new.last))])
    return None


def _phrase(read: Reading, start: int, most: int) -> WordSpan | None:
    """Return a preposition with its articles and the informative words behind it, at most so many."""
    last, count = start + 1, 0
    while last < len(read.words) and count < most:
        if last in read.informative:
            count += 1
        elif count or read.lows[last] in read.lexicon.prepositions or read.in_period(last):
            break
        last += 1
    return WordSpan(start, last) if count else None


def _is_named(read: Reading, span: WordSpan) -> bool:
    return any(span.first < name.last and name.first < span.last for name in read.names)


def _with_name(base: Reading, question: Reading) -> str | None:
    """Return the base with a name replaced by the one in the question; None if nothing matches it."""
    if len(question.names) != 1:
        return None
    [new] = question.names
    if any(not new.first <= place < new.last for place in question.informative):
        return None
    old = next((old for old in reversed(base.names) if _form(base, old) == _form(question, new)), None)
    if old is None and not _is_single_code(question, new):
        old = next((old for old in reversed(base.names) if not _is_single_code(base, old)), None)
    return _write(base, [(old, question.slice(new.first, new.last))]) if old else None


def _form(read: Reading, name: WordSpan) -> tuple[str, ...]:
    """Return what a name looks like: “F4” and “F7” look alike, as do “Kestrel V8” and “Heron D60”."""
    words = read.words[name.first : name.last]
    return tuple(
        "code" if is_code(word.text) else "number" if word.text.isdigit() else "word" for word in words
    )


def _is_single_code(read: Reading, name: WordSpan) -> bool:
    return _form(read, name) == ("code",)


# --- Other follow-ups: their own words, and what they point at ----------------------------------------------


def _extended(dialogue: _Dialogue) -> str:
    carried = dict.fromkeys([*_names(dialogue), *_periods(dialogue), *_topic(dialogue)])
    text = dialogue.question.text
    return f"{text.strip()} ({', '.join(carried)})" if carried else text


def _names(dialogue: _Dialogue) -> list[str]:
    """Return the names of the last turn that has some; of people those of the answer first."""
    question = dialogue.question
    if question.names:
        return []
    for turn, asked in zip(dialogue.turns, dialogue.asked, strict=True):
        answer = _read(turn.answer, question)
        of_answer = [_text(answer, name) for name in answer.names if name.last - name.first > 1]
        of_question = [_text(asked, name) for name in asked.names]
        asks_who = any(low in question.lexicon.words("asks_who") for low in asked.lows)
        if is_about_person(question) and of_answer:
            return of_answer[:1] + of_question
        if of_question or of_answer:
            return of_question + (of_answer[:1] if asks_who or not of_question else [])
    return []


def _text(read: Reading, span: WordSpan) -> str:
    return read.slice(span.first, span.last)


def _periods(dialogue: _Dialogue) -> list[str]:
    question = dialogue.question
    if shift := question.shift:
        moved = (_moved(read.periods, shift) for read in dialogue.elsewhere())
        return [text for _, text in next(filter(None, moved), [])]
    asks_when = any(low in question.lexicon.words("asks_when") for low in question.lows)
    if question.periods or asks_when:
        return []
    before = dialogue.before
    return [_text(before, _whole(before, period)) for period in before.periods]


def _whole(read: Reading, period: NamedPeriod) -> WordSpan:
    """Return “second quarter” for “second”."""
    follows = period.last < len(read.words) and read.lows[period.last] in read.lexicon.quarters
    return WordSpan(period.first, period.last + follows)


def _topic(dialogue: _Dialogue) -> list[str]:
    """Return the informative words of the question before that are no names, as one text."""
    question, before = dialogue.question, dialogue.before
    if is_about_person(question):
        return []
    own = {question.lows[place] for place in question.informative}
    places = [
        place
        for place in before.informative
        if before.lows[place] not in own and not any(name.first <= place < name.last for name in before.names)
    ]
    return [" ".join(before.words[place].text for place in places[:MOST_CARRIED])] if places else []


# --- Writing -----------------------------------------------------------------------------------------------


def _write(base: Reading, changes: Iterable[tuple[WordSpan, str]]) -> str:
    text = base.text
    for span, new in sorted(changes, key=lambda change: -change[0].first):
        text = text[: base.words[span.first].start] + new + text[base.words[span.last - 1].end :]
    return text


def _stripped(text: str) -> str:
    return text.rstrip(" ?")
