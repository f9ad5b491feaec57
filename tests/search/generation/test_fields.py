"""What stands behind a label, in a row, below a heading or below a title answers who asks for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.contexts import ChunkContext, Context
from search.generation.extractive.authors import authors
from search.generation.extractive.fields import answer_by_field
from search.generation.extractive.fields.reading import fields_of
from search.generation.extractive.fields.rows import answer_by_row, lacks_column
from search.generation.extractive.fields.sections import answer_by_section
from tests.search.contexts import context, table_context


def page(*lines: str, language: str = "en", headings: tuple[str, ...] = ()) -> ChunkContext:
    """Return a context whose lines are paragraphs."""
    bounds, at = [], 0
    for line in lines:
        bounds.append((at, at + len(line)))
        at += len(line) + 2
    made = context(1, "x", located=False)
    text = "\n\n".join(lines)
    return replace(
        made, text=text, sentence_bounds=tuple(bounds), spans=(), language=language, headings=headings
    )


def told(lines: list[str]) -> list[str]:
    return [line.partition(" <source_")[0] for line in lines]


LETTER = page(
    "Trade fair in Milan",
    "From: Karen Holt <karen@example.com>",
    "To: Sales team <sales@example.com>",
    "Date: Mon, 3 Nov 2025 09:14:00 +0100",
    "The trade fair is in hall 5. If you fall ill, call me at 0170 555 0199.",
    headings=("Trade fair in Milan",),
)
INVOICE = page(
    "Rechnung Nr. 2025-118",
    "Kundennummer: 40731",
    "19 % Umsatzsteuer: 304,67 EUR",
    "Bitte überweisen Sie den Betrag bis zum 16.06.2025.",
    language="de",
)
MINUTES = page(
    "Date: 14 March 2025",
    "Place: Room 4.12",
    "Present: Lena Brandt (chair), Tom Okafor",
    "Apologies: Maria Conti",
    "Sampled by: M. Okoye",
    "Weight: 2.4 kg",
    "The meeting approved the budget.",
)
RECIPE = page("Lemon cake", "Ingredients", "- 250 g flour", "- 4 eggs", "Mix everything and bake it.")
NOTE = page(
    "Bristol, 9 September 2025",
    "Dear Mr Lang,",
    "the crown costs 780 pounds.",
    "Yours sincerely",
    "Amelia Stone",
)
FLAT = page("Größe: 62 m²", "Miete: 780 EUR", "Die Wohnung liegt im dritten Stock.", language="de")
BILL = replace(
    table_context("|  |  |\n| --- | --- |\n| Nachzahlung | 52,24 EUR |\n| Kündigungsfrist | 3 Monate |"),
    language="de",
    document_name="Rechnung Possehl",
)
LIBRARY = page("休館日は月曜日です。", "電話番号：03-5555-0199", "館長：山田花子", language="ja")


@pytest.mark.parametrize(
    ("question", "found", "answer"),
    [
        ("Who sent the e-mail?", LETTER, r"From: Karen Holt \<karen@example.com\>"),
        ("Wer hat die E-Mail geschickt?", LETTER, r"From: Karen Holt \<karen@example.com\>"),
        ("When was the e-mail sent?", LETTER, "Date: Mon, 3 Nov 2025 09:14:00 +0100"),
        ("What is the e-mail about?", LETTER, "Trade fair in Milan"),
        ("Welche Kundennummer habe ich?", INVOICE, "Kundennummer: 40731"),
        ("Wie hoch ist die Umsatzsteuer?", INVOICE, "19 % Umsatzsteuer: 304,67 EUR"),
        ("Where did the meeting take place?", MINUTES, "Place: Room 4.12"),
        ("Who attended the meeting?", MINUTES, "Present: Lena Brandt (chair), Tom Okafor"),
        ("Who was absent?", MINUTES, "Apologies: Maria Conti"),
        ("Who took the samples?", MINUTES, "Sampled by: M. Okoye"),
        ("How heavy is it?", MINUTES, "Weight: 2.4 kg"),
        ("How many eggs do I need?", RECIPE, "4 eggs"),
        ("How much flour is needed?", RECIPE, "250 g flour"),
        ("Who wrote the letter?", NOTE, "Amelia Stone"),
        ("When was the letter written?", NOTE, "Bristol, 9 September 2025"),
        ("Wie groß ist die Wohnung?", FLAT, "Größe: 62 m²"),
        ("Wie viel muss Frau Possehl noch nachzahlen?", BILL, "Nachzahlung · 52,24 EUR"),
        ("Wie lange ist die Kündigungsfrist?", BILL, "Kündigungsfrist · 3 Monate"),
        ("電話番号は何ですか。", LIBRARY, "電話番号：03-5555-0199"),
        ("館長は誰ですか。", LIBRARY, "館長：山田花子"),
    ],
)
def test_what_stands_behind_a_label_is_told(question: str, found: Context, answer: str) -> None:
    assert told(answer_by_field(question, [found])) == [answer]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Wie lautet die Steuernummer?", INVOICE),
        ("How high was the weight of the parcel?", MINUTES),
        ("How tall is it?", MINUTES),
        ("Was the meeting in Room 4.12?", MINUTES),
        ("Why did the meeting take place?", MINUTES),
        ("How much did the weight change?", MINUTES),
        ("How many apples do I need?", RECIPE),
        ("When was Karen Holt born?", LETTER),
        ("Wie hoch war die Nachzahlung der Nachbarn?", BILL),
    ],
)
def test_no_label_answers_what_it_does_not_say(question: str, found: Context) -> None:
    assert answer_by_field(question, [found]) == []


def test_two_values_behind_one_label_answer_nothing() -> None:
    assert answer_by_field("What is the price?", [page("Price: 4.90", "Price: 8.90")]) == []


def test_a_form_names_below_what_was_filled_in() -> None:
    form = table_context(
        "| Nevada |  |\n| --- | --- |\n| (State of incorporation) |  |\n| (702) 939-3254 |  |\n"
        "| (Telephone number) |  |"
    )
    assert told(answer_by_field("In which state is the company incorporated?", [form])) == [
        "State of incorporation: Nevada"
    ]
    assert told(answer_by_field("What is the telephone number?", [form])) == ["(702) 939-3254"]


def test_a_label_above_its_value_is_told_by_the_value() -> None:
    found = page("Meeting ID", "869 1664 1575", "Skills", "Python, SQL")
    assert told(answer_by_field("What is the meeting ID?", [found])) == ["869 1664 1575"]
    assert told(answer_by_field("Which skills are listed?", [found])) == ["Python, SQL"]


def test_a_placeholder_is_no_value_and_an_id_has_digits() -> None:
    found = page("Crampit", "[Image unavailable.]", "Someone has joined your meeting:", "Topic",
                 "Meeting ID", "869 1664 1575")  # fmt: skip
    assert answer_by_field("What is a crampit?", [found]) == []
    assert told(answer_by_field("What is the ID of the meeting someone has joined?", [found])) == [
        "869 1664 1575"
    ]


def test_sentences_give_numbers_to_call() -> None:
    [number] = [field for field in fields_of(LETTER) if field.label == "phone"]
    assert number.value == "0170 555 0199"


PEOPLE = table_context(
    "| Name | Role | City | Start date | E-mail |\n| --- | --- | --- | --- | --- |\n"
    "| Nina Berg | Engineer | Basel | 2019-04-01 | nina@example.org |\n"
    "| Paul Lindt | Accountant | Olten | 2021-09-15 | paul@example.org |"
)
PLOTS = replace(
    table_context(
        "| Tipo de parcela | Canon |\n| --- | --- |\n| Individual | 48 euros |\n| Asociación | 96 euros |"
    ),
    language="es",
)
PRICES = table_context(
    "| Article | Price | Stock | Supplier |\n| --- | --- | --- | --- |\n"
    "| Garden chair | 39.90 | 24 | Holm |\n| Hammock | 64.00 | 11 | Sunline |"
)
GLOSSARY = table_context(
    "| Abbreviation | Meaning |\n| --- | --- |\n| MC | Multiple choice |\n| ESS | Essay |"
)


@pytest.mark.parametrize(
    ("question", "found", "answer"),
    [
        ("Where does Nina Berg live?", PEOPLE, "Nina Berg · City: Basel"),
        ("Who lives in Olten?", PEOPLE, "Paul Lindt · City: Olten"),
        ("When did Nina Berg start?", PEOPLE, "Nina Berg · Start date: 2019-04-01"),
        ("Wie lautet die E-Mail-Adresse von Paul Lindt?", PEOPLE, "Paul Lindt · E-mail: paul@example.org"),
        ("How much is the garden chair?", PRICES, "Garden chair · Price: 39.90"),
        ("What does a hammock cost?", PRICES, "Hammock · Price: 64.00"),
        ("Who supplies the hammock?", PRICES, "Hammock · Supplier: Sunline"),
        ("¿Cuánto cuesta la asociación?", PLOTS, "Asociación · Canon: 96 euros"),
        ("What does ESS stand for?", GLOSSARY, "ESS · Meaning: Essay"),
    ],
)
def test_a_row_that_is_named_tells_what_is_asked_of_it(question: str, found: Context, answer: str) -> None:
    assert told(answer_by_row(question, [found])) == [answer]


@pytest.mark.parametrize(
    "question", ["When was Nina Berg born?", "How heavy is Nina Berg?", "Which car does Nina Berg drive?"]
)
def test_a_row_without_the_column_answers_nothing(question: str) -> None:
    assert answer_by_row(question, [PEOPLE]) == []
    assert lacks_column(question, PEOPLE, PEOPLE.sentences[0].start, is_likely=False)


def test_a_row_with_notes_may_say_anything() -> None:
    roles = table_context("| Year | Title | Notes |\n| --- | --- | --- |\n| 2012 | The Hour | 4 episodes |")
    question = "In how many episodes of The Hour did she appear?"
    assert not lacks_column(question, roles, roles.sentences[0].start, is_likely=False)


@pytest.mark.parametrize(
    ("question", "lacks"),
    [
        ("When was Nina Berg born?", False),
        ("How heavy is Nina Berg?", True),
        ("Which car has Nina Berg?", False),
    ],
)
def test_a_row_that_likely_answers_needs_a_column_of_the_kind_alone(question: str, lacks: bool) -> None:
    assert lacks_column(question, PEOPLE, PEOPLE.sentences[0].start, is_likely=True) is lacks


@pytest.mark.parametrize(
    ("question", "lacks"),
    [
        ("How much does a new tower cost?", False),  # the cell is money, whatever its column is called
        ("What do we pay for the new climbing tower?", False),
        ("Who builds a new climbing tower?", True),
        ("Who is in charge of the new climbing tower?", True),
    ],
)
def test_what_a_cell_tells_by_itself_needs_no_column(question: str, lacks: bool) -> None:
    found = table_context(
        "| Measure | Estimate | Deadline |\n| --- | --- | --- |\n| New tower | £23,400 | May |"
    )
    assert lacks_column(question, found, found.sentences[0].start, is_likely=True) is lacks


def test_a_country_is_asked_for_in_other_languages() -> None:
    people = table_context(
        "| Name | City | Country |\n| --- | --- | --- |\n"
        "| Linda Olsen | Bensonview | Chile |\n| Jo Bender | Wien | Peru |"
    )
    for question in ("¿En qué país vive Linda Olsen?", "In welchem Land wohnt Linda Olsen?"):
        assert told(answer_by_row(question, [people])) == ["Linda Olsen · Country: Chile"]


def test_what_was_sold_is_no_percentage() -> None:
    shares = table_context("| Region | 2008 |\n| --- | --- |\n| China | 16% |\n| Japan | 20% |")
    assert answer_by_row("What did it sell in China in 2008?", [shares]) == []
    amounts = table_context("| Region | 2008 |\n| --- | --- |\n| China | 401 |\n| Japan | 503 |")
    assert told(answer_by_row("What did it sell in China in 2008?", [amounts])) == ["China · 2008: 401"]


@pytest.mark.parametrize(
    "column", ["Docente", "Trainer", "Lehrkraft", "Monitora", "Animateur", "担当", "Wann / Wer"]
)
def test_who_leads_is_a_person(column: str) -> None:
    found = table_context(f"| Code | Course | {column} |\n| --- | --- | --- |\n| L03 | Japanese | M. Tani |")
    start = found.sentences[0].start
    assert not lacks_column("Who gives Japanese?", found, start, is_likely=True)


COURSES = table_context(
    "| Code | Course | Tutor | Fee (GBP) |\n| --- | --- | --- | --- |\n"
    "| FO305 | Cheese Making at Home | Alasdair Munce | 88 |\n"
    "| MU602 | Community Choir | Verity Saltmarsh | 45 |\n"
    "| MU603 | Guitar for Beginners | Leon Baptiste | 72 |\n"
    "| LA203 | German for Beginners | Ulrike Sandmeier | 135 |"
)


def test_a_word_that_one_row_alone_has_in_its_name_names_it() -> None:
    found = answer_by_row("What does the choir cost?", [COURSES])
    assert told(found) == ["MU602 · Course: Community Choir · Fee (GBP): 45"]


@pytest.mark.parametrize(
    "question",
    [
        "What does the beginners course cost?",  # two rows have the word
        "What does the choir excursion cost?",  # more is asked
        "What does the fee cost?",  # the name of a column names no row
    ],
)
def test_a_part_of_a_name_names_no_row_if_more_is_asked(question: str) -> None:
    assert answer_by_row(question, [COURSES]) == []


def test_two_rows_that_are_named_alike_answer_nothing() -> None:
    twins = table_context("| Name | City |\n| --- | --- |\n| Nina Berg | Basel |\n| Nina Berg | Olten |")
    assert answer_by_row("Where does Nina Berg live?", [twins]) == []


STEPS = page(
    "Installation",
    "Shut off the cold water supply.",
    "Unscrew the aerator.",
    headings=("Water filter", "Installation"),
)


def test_the_lines_below_a_heading_are_told_as_a_list() -> None:
    assert told(answer_by_section("How do I install the filter?", [STEPS])) == [
        "- Shut off the cold water supply.",
        "- Unscrew the aerator.",
    ]
    assert told(answer_by_section("Which ingredients do I need?", [RECIPE])) == ["- 250 g flour", "- 4 eggs"]


@pytest.mark.parametrize(
    "question",
    ["How do I install the dishwasher?", "When was the installation?", "Is the installation hard?"],
)
def test_no_section_answers_what_it_is_not_about(question: str) -> None:
    assert answer_by_section(question, [STEPS]) == []


PAPER = page(
    "Dense Retrieval for Questions",
    "Vladimir Karpukhin∗, Barlas Oğuz∗, Ludwig van der Berg†,",
    "Ledell Wu and Wen-tau Yih",
    "Facebook AI, University of Washington",
    "Abstract",
    "We show that retrieval can be learned.",
    headings=("Dense Retrieval for Questions",),
)


@pytest.mark.parametrize(
    "question",
    ["Who wrote the paper?", "Who are the authors of this article?", "Wer sind die Autoren des Artikels?"],
)
def test_authors_stand_below_the_title(question: str) -> None:
    assert authors(question, [PAPER]) == [
        "Vladimir Karpukhin∗, Barlas Oğuz∗, Ludwig van der Berg†, <source_1>"
        " Ledell Wu and Wen-tau Yih <source_1>\n"
    ]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("Chi Wang", "Principal Researcher at Microsoft Research"), ["Chi Wang <source_1>\n"]),
        (("by Ada Lovelace", "A quick guide."), ["by Ada Lovelace <source_1>\n"]),
        (("Standing Trustees", "October 1, 2012"), []),
    ],
)
def test_a_lone_name_is_an_author_only_with_a_sign_of_it(lines: tuple[str, ...], found: list[str]) -> None:
    post = page("A title", *lines, headings=("A title",))
    assert authors("Who wrote the post?", [post]) == found


@pytest.mark.parametrize(
    "question",
    ["Who wrote Hamlet?", "What is the paper about?", "How many passages did the paper's authors read?"],
)
def test_authors_are_told_only_who_asks_for_them(question: str) -> None:
    assert authors(question, [PAPER]) == []
