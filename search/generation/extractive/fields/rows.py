"""A row of a table as a record: what stands in it beside what the question names.

    | First name | Last name | City  | Since      |
    | Ada        | Lovelace  | Paris | 2020-08-24 |

    “Where does Ada Lovelace live?”  ─▶  the city       “Who lives in Paris?”  ─▶  the names

Only where one row alone has all that the question names of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from core.text.analysis import UNSPACED, terms
from core.text.tables import header_of, is_table
from search.contexts import Context
from search.generation.extractive.calculations import calculation_of
from search.generation.extractive.expected import asks_for_measure, quantities_in
from search.generation.extractive.fields.asked import (
    SAID_ANYWAY,
    Words,
    in_common,
    is_said,
    terms_in,
    words_asked,
)
from search.generation.extractive.periods import YEAR
from search.generation.extractive.required import asks_for_kind, required_by
from search.generation.extractive.tables import FactCell, FactRow, naming_column, row_cells, rows_of
from search.generation.extractive.wording import cited
from search.question_language import language_of

MOST_CELLS = 20
"""A wider row is no record."""
SHORTEST_OWN = 4
"""In letters: what a word must have that alone tells a row from the others."""
_CONTACTS = (
    (re.compile(r"e-?mail|correo|courriel|メール|邮箱|이메일", re.IGNORECASE), re.compile("@")),
    (
        re.compile(r"\bphone|telephone|telefon|téléphone|teléfono|telefoon|電話|电话|전화", re.IGNORECASE),
        re.compile(r"\d"),
    ),
)
"""What a question and a column call alike in most languages, and what such a value has."""
_KINDS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(columns, re.IGNORECASE), has_digits)
    for asked, columns, has_digits in (
        (
            r"\b(?:who|whom|wer|wem|wen|qui|quiénes|quién|chi|wie is|quem)\b|誰|だれ|谁|누구|누가",
            r"name\b|person|employee|customer|conta[ct]|kontakt|author|owner|speaker|\blead|responsible|mitarbeiter"
            r"|kunde|zuständig|verantwortlich|referent|\bnom\b|responsable|intervenant|nombre|ponente|\bnome\b"
            r"|relatore|naam|名前|氏名|姓名|이름|성명|担当"
            r"|\b(?:who|wer|qui|quién|chi|wie|quem)\b"
            # Who teaches, leads, drives, treats and wins.
            r"|teacher|tutor|instructor|trainer|coach|chair|manager|driver|doctor|physician|winner"
            r"|dozent|lehrer|lehrkraft|leit(?:er|ung)|fahrer|arzt|ärztin|sieger|gewinner"
            r"|enseignant|professeur|formateur|formatrice|anima(?:teur|trice)|chauffeur|médecin|vainqueur"
            r"|profesor|monitor|conductor|médico|ganador|docente|insegnante|istru(?:tt?ore|ttrice)|autista|medico"
            r"|vincitore|formador|instrutor|motorista|vencedor|docent\b|leraar|begeleider|winnaar",
            False,
        ),
        (
            r"\b(?:which|what|welche[mnrs]?|quel|qué|quale|qual|welk) (?:country|land|pays|país|paese)\b",
            r"country|\bland\b|pays|país|paese",
            None,
        ),
        (
            r"\b(?:which|what|welche[mnrs]?|quelle|qué|quale|qual|que|welke) (?:city|town|stadt|ort"
            r"|ville|ciudad|città"
            r"|cidade|stad)\b",
            r"city|town|stadt|\bort\b|ville|ciudad|città|cidade|\bstad\b",
            None,
        ),
        (
            r"\b(?:which|what|welche[mnrs]?|quelle|qué|quale|qual|que|welk) (?:company|firm"
            r"|employer|firma|unternehmen"
            r"|entreprise|société|empresa|compañía|azienda|bedrijf)\b",
            r"company|employer|firma|unternehmen|entreprise|société|empresa|compañía|azienda|bedrijf",
            None,
        ),
        (
            r"\b(?:where|wo|où|dónde|dove|waar|onde)\b|どこ|哪里|哪儿|어디",
            r"city|town|place|location|country|address|venue|\bort\b|stadt|\bland\b|adresse|lieu|ville|pays"
            r"|lugar|ciudad|país|dirección|住所|所在地|地址|城市|주소|\b(?:where|wo|où|dónde|dove|waar|onde)\b",
            None,
        ),
        (
            r"\b(?:how much (?:is|are|does|do)|costs?|price|expensive|was kostet|was kosten|wie teuer"
            r"|wie viel kostet|combien (?:coûte|vaut)|prix|cuánto (?:cuesta|vale)|precio"
            r"|quanto (?:costa|custa)|prezzo|preço|wat kost|hoe duur|prijs)",
            r"price|cost|amount|\bfee|rate|preis|kosten|betrag|gebühr|beitrag|prix|montant|tarif|cotisation|precio"
            r"|importe|prezzo|costo|quota|preço|valor|prijs|bedrag|価格|値段|价格|가격",
            True,
        ),
        (
            r"\b(?:how old|wie alt|quel âge|cuántos años|what age)\b|何歳|几岁|多大|몇 살",
            r"\bage\b|\balter\b|\bâge\b|edad|年齢|年龄|나이",
            True,
        ),
        (
            r"\b(?:when|wann|quand|cuándo|quando|wanneer)\b|いつ|何时|언제",
            r"date|\bday\b|\byear\b|\btime\b|since|departure|arrival|start|datum|abfahrt|ankunft|beginn"
            r"|départ|arrivée|salida|llegada|\bjahr\b|\bseit\b|fecha|\baño\b|日付|日期|날짜"
            r"|\b(?:when|wann|quand|cuándo|quando|wanneer)\b",
            True,
        ),
    )
)
"""What asks for a kind of thing, the columns that are of that kind, and whether such a value has digits,
None if it may."""
_NOTES = re.compile(
    r"\b(?:notes?|remarks?|comments?|descriptions?|details?|bemerkung\w*|anmerkung\w*|beschreibung"
    r"|remarques?|observaciones|descripción)\b",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(r"\b(?:how|wie|combien|cuánt\w+|quant\w+)\b", re.IGNORECASE)
_WANTS_AMOUNT = re.compile(
    r"\b(?:sells?|sold|earn(?:s|ed)?|spen[dt]s?|pa(?:ys?|id)|owe[sd]?|costs?|invest(?:s|ed)?|raised?)\b",
    re.IGNORECASE,
)
_VERBS = {
    language: frozenset(terms(words, language))
    for language, words in {
        "en": "live lives living reside based located play plays work works come comes belong stand stands"
        " mean means abbreviation acronym cost costs leave leaves depart departs arrive arrives"
        " include includes contain contains consist consists comprise",
        "de": "kostet kosten gekostet wohnt wohnen arbeitet steht stehen bedeutet heißt enthält fährt kommt",
        "fr": "coûte coûtent coûté habite habitent vaut travaille signifie contient comprend part arrive",
        "es": "cuesta cuestan costó costado vale valen vive viven trabaja significa contiene incluye sale"
        " llega",
        "it": "costa costano costato vive vivono abita lavora significa contiene comprende parte arriva",
        "pt": "custa custam custou vale vive vivem trabalha significa contém inclui parte chega",
        "nl": "kost kosten gekost woont wonen werkt betekent bevat vertrekt",
    }.items()
}
"""What a question says of a row that its columns need not say, by language."""


@dataclass(frozen=True, slots=True)
class Record:
    """A row with the names of all its columns; `named` are the cells whose values a question has.

    Of the name of what it is about it may have words that no other row has: “the choir”, “Community Choir”.
    """

    context: Context
    row: FactRow
    cells: tuple[FactCell, ...]
    named: tuple[FactCell, ...]
    weight: int = 0
    """How many characters the question has of it."""
    is_whole: bool = True
    """Whether it has all words of a value."""

    @property
    def others(self) -> list[FactCell]:
        """The cells that the question does not have."""
        return [cell for cell in self.cells if cell not in self.named]


def answer_by_row(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the cells that a question asks for of the one row that it names, as Markdown, or nothing."""
    records = [record for context in contexts for record in _records(question, context)]
    most = max((record.weight for record in records), default=0)
    best = [record for record in records if record.weight == most]
    if len({record.cells for record in best}) != 1:
        return []
    [record, *_] = best
    wanted = _wanted(question, record)
    if not wanted or (_wants_amount(question) and all("%" in cell.value for cell in wanted)):
        return []
    shown = [cell for cell in record.cells if cell in record.named or cell in wanted]
    name, *_ = record.cells
    rest = [cell for cell in shown if cell is not name]
    return [f"{cited(record.row.rendered(rest), record.context)}\n"]


def _wants_amount(question: str) -> bool:
    """Tell whether a question wants an amount, which no share of it is: “What did it sell in China?”."""
    return _WANTS_AMOUNT.search(question) is not None and calculation_of(question) is None


def lacks_column(question: str, context: Context, start: int, *, is_likely: bool) -> bool:
    """Tell whether the row at an offset of a table has no column for what a question asks of it.

    “When was Ada Lovelace born?” is not answered by when she joined: the question says more than the row. One
    that is likely to answer may say it in other words. Of a table whose columns are years, or take notes,
    nothing is said: there a row says what is asked for, or anything.
    """
    header = header_of(context.text) if is_table(context.text) else ""
    row = next((row for row in rows_of(context.text) if row.start == start), None)
    is_foreign = language_of(question) != (context.language or "en")
    if not header or row is None or is_foreign or YEAR.search(header) or _NOTES.search(header):
        return False
    cells = _all_cells(header, row)
    named = tuple(cell for cell in cells if _is_named(cell.value, question, context))
    if _wanted(question, Record(context, row, cells, named)):
        return False
    kinds = [columns for asked, columns, _ in _KINDS if asked.search(question)]
    is_of_column = any(columns.search(cell.column) for columns in kinds for cell in cells)
    has_kind = not kinds or is_of_column or _has_kind_in_cell(question, row)
    said = terms_in(" ".join(f"{cell.column} {cell.value}" for cell in cells), context)
    measures = terms_in(" ".join(quantities_in(question)), context)
    has_measure = not asks_for_measure(question) or bool(measures & said)
    rest = words_asked(question, context) - said - SAID_ANYWAY - _verbs(context)
    return not (has_kind and has_measure and (is_likely or is_said(rest, said | _around(context))))


def _has_kind_in_cell(question: str, row: FactRow) -> bool:
    """Tell whether one cell is what is asked for by itself, whatever its column is called: “Estimate: £230”.

    Of several, the column tells which is meant: “Day: £12, week: £55” does not say what a month costs.
    """
    has_it = required_by(question)
    return asks_for_kind(question) and sum(has_it(cell.value) for cell in row.cells) == 1


def _records(question: str, context: Context) -> Iterator[Record]:
    """Yield the rows of which a question names something, of a table whose columns have names."""
    header = header_of(context.text) if is_table(context.text) else ""
    if not header:
        return
    of_columns = terms_in(" ".join(row_cells(header)), context)
    quotable = {sentence.start for sentence in context.sentences}
    rows = [*rows_of(context.text)]
    name = naming_column(rows, context.language) or row_cells(header)[0]
    asked = words_asked(question, context) - of_columns - SAID_ANYWAY
    all_cells = [_all_cells(header, row) for row in rows]
    all_names = [_words_of_name(name, cells, context) for cells in all_cells]
    rows_with = Counter(chain.from_iterable(all_names))
    for row, cells, of_name in zip(rows, all_cells, all_names, strict=True):
        whole = [
            cell
            for cell in cells
            if _is_named(cell.value, question, context) and not terms_in(cell.value, context) <= of_columns
        ]
        own = [word for word in asked & of_name if rows_with[word] == 1]
        named = tuple(cell for cell in cells if cell in whole or (own and cell.column == name))
        if named and row.start in quotable and len(cells) <= MOST_CELLS:
            weight = sum(len(cell.value) if cell in whole else sum(map(len, own)) for cell in named)
            yield Record(context, row, cells, named, weight, is_whole=bool(whole))


def _words_of_name(name: str, cells: Sequence[FactCell], context: Context) -> Words:
    """Return the words of what a row is about, without figures and short words."""
    said = terms_in(" ".join(cell.value for cell in cells if cell.column == name), context)
    return frozenset(word for word in said if word.isalpha() and len(word) >= SHORTEST_OWN)


def _all_cells(header: str, row: FactRow) -> tuple[FactCell, ...]:
    """Return the cells of a row that are not empty, its name as the first."""
    return FactCell(row_cells(header)[0], row.name), *row.cells


def _is_named(value: str, question: str, context: Context) -> bool:
    """Tell whether a question has all words of a value that has any."""
    if not any(map(str.isalpha, value)):
        return False
    if UNSPACED.search(value):
        return len(value) > 1 and value in question
    words = frozenset(re.findall(r"\w+", value.casefold()))
    asked = frozenset(re.findall(r"\w+", question.casefold())) | quantities_in(question)
    return words <= asked and bool(terms_in(value, context))


def _wanted(question: str, record: Record) -> list[FactCell]:
    """Return the cells of the columns that a question names or that are of the kind it asks for."""
    for contact, value in _CONTACTS:
        if contact.search(question):
            return [
                cell for cell in record.others if contact.search(cell.column) and value.search(cell.value)
            ]
    named = terms_in(" ".join(cell.value for cell in record.named), record.context)
    rest = words_asked(question, record.context) - named - SAID_ANYWAY
    if UNSPACED.search(question):
        rest = frozenset()
    by_name = {cell: in_common(rest, terms_in(cell.column, record.context)) for cell in record.others}
    most = max(map(len, by_name.values()), default=0)
    if most:
        found = [cell for cell, common in by_name.items() if len(common) == most]
        said = frozenset().union(*by_name.values())
        unsaid = rest - said - _verbs(record.context)
        # What is named by its column, too, needs no verb that the table says.
        return found if len(unsaid) <= record.is_whole or is_said(unsaid, _around(record.context)) else []
    rest &= _telling_words(question, record.context)
    for asked, columns, has_digits in _KINDS:
        if match := asked.search(question):
            if not is_said(rest - terms_in(match[0], record.context), _around(record.context)):
                return []
            found = [
                cell
                for cell in record.others
                if columns.search(cell.column) and has_digits in (None, _has_digits(cell.value))
            ]
            return found or _only_of_kind(question, record)
    if not is_said(rest, _around(record.context)):
        return []
    if asks_for_kind(question):
        return _only_of_kind(question, record)
    # What is in words is what a thing is, means or includes, and no answer to how much it is.
    in_words = [cell for cell in record.others if not _has_digits(cell.value)]
    asks_how_much = quantities_in(question) or _HOW_MUCH.search(question)
    choices = [record.others] if asks_how_much else [record.others, in_words]
    return next((cells for cells in choices if len(cells) == 1), [])


def _only_of_kind(question: str, record: Record) -> list[FactCell]:
    """Return the only cell that holds what each answer must, whatever its column is called: money, a time."""
    has_it = required_by(question)
    fitting = [cell for cell in record.others if has_it(cell.value)] if asks_for_kind(question) else []
    return fitting if len(fitting) == 1 else []


def _telling_words(question: str, context: Context) -> Words:
    """Return the words that say something in the language of the question, without verbs that say little."""
    language = language_of(question)
    verbs = _VERBS.get(language, frozenset())
    said = [word for word in re.findall(r"\w+", question) if {*terms(word, language)} - verbs]
    return terms_in(" ".join(said), context) - _verbs(context)


def _verbs(context: Context) -> Words:
    return _VERBS["en"] | _VERBS.get(context.language or "en", frozenset())


def _has_digits(value: str) -> bool:
    return any(map(str.isdigit, value))


def _around(context: Context) -> Words:
    introduction = context.text.partition("|")[0]
    said = [context.document_name, *context.headings, introduction, context.introduction]
    return terms_in(" ".join(said), context)
