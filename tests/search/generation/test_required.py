"""What an answer must have, if the question asks for money, a time of day or a number to call."""

from __future__ import annotations

import pytest

from search.generation.extractive.required import lacks_percentage, required_by, required_of_row_by


@pytest.mark.parametrize(
    ("question", "has", "lacks"),
    [
        ("How much does a bottle of 84 cost?", "A bottle is £12.", "It comes in bottles of 28 or 84."),
        ("What do I pay for children?", "Children are free.", "Children sit in the first row."),
        ("What is the fee for a copy?", "A copy is 2 euros.", "A copy takes two days."),
        ("Was kostet die Maschine?", "Sie kostet 59 Euro.", "Entkalken Sie die Maschine alle drei Monate."),
        ("Wie teuer ist eine Führung?", "Führungen sind kostenlos.", "Führungen dauern 90 Minuten."),
        ("Wie viel muss ich überweisen?", "Es bleiben 627,29 €.", "Zahlbar binnen 14 Tagen."),
        ("C'est combien la nuit en août ?", "La nuit est à 19,60 €.", "Deux nuits au minimum en août."),
        ("花火はいくらですか", "花火は38万円である。", "花火は8月17日に行う。"),
        ("Combien gagne la gardienne ?", "Elle touche 1 800 €.", "Elle part le 30 septembre 2024."),
        ("¿Cuánto se paga por día?", "Se pagan 20 céntimos.", "Se pagan por la mañana."),
        ("What time does it open?", "Open from 9:30.", "Open on weekdays."),
        ("When and at what time is lunch?", "Lunch is at noon.", "Lunch is in room 4."),
        ("Um wie viel Uhr beginnt es?", "Beginn ist 19 Uhr.", "Beginn ist am 5. Mai."),
        ("Which number do I call at night?", "Dial 0800 555 0119.", "Call the caretaker."),
        ("Welche Nummer wähle ich nachts?", "Rufen Sie 0800/123 an.", "Rufen Sie uns an."),
        ("How much is the fee for Zumba?", "Zumba · Fee (GBP): 72", "Zumba · Fee band: B"),
        ("In which year was it built?", "It was built in 1868.", "It carried 3,800 vehicles a day."),
        ("Seit welchem Jahr gibt es ihn?", "Es gibt ihn seit 1998.", "Es gibt ihn seit langem."),
        ("En quelle année a-t-il été construit ?", "Il date de 1751.", "Il reste interdit."),
        ("灯台は何年に建てられましたか。", "一八九二年に建てられた。", "三十四メートルである。"),
        ("How long does the battery last?", "It lasts 19 days.", "It is covered by the warranty."),
        ("How long may I keep it?", "You may keep it until Easter.", "You may keep it at home."),
        ("Wie lange gilt die Karte?", "Sie gilt fünf Arbeitstage.", "Sie gilt in allen Bussen."),
        ("Quanto durò la costruzione?", "Durò due anni.", "Le 146 lettere sono a Vienna."),
        ("¿Cuántos meses estuvo cerrado?", "Cerró de mayo a julio, tres meses.", "Cerró por 18 obras."),
        ("Quel âge a la maire ?", "Elle a 54 ans.", "C'est la maire qui le dit."),
        ("How old must a trainer be?", "Nobody below eighteen trains others.", "Trainers must be certified."),
        ("What water pressure does it need?", "It needs 1.5 bar.", "Up to a few radiators are fed."),
        ("What salary will the manager get?", "She is paid 41,000 a year.", "Appointment of the manager."),
    ],
)
def test_only_what_has_it_may_answer(question: str, has: str, lacks: str) -> None:
    assert required_by(question)(has)
    assert not required_by(question)(lacks)


@pytest.mark.parametrize(
    ("row", "is_answer"),
    [
        ("Reserva · Precio: 18", True),  # the name of the column tells what it is
        ("Reserva · Precio: gratis", True),
        ("Información · Vino: para llevar", False),
    ],
)
def test_a_row_must_have_a_figure(row: str, is_answer: bool) -> None:
    assert required_of_row_by("¿Cuánto cuesta la reserva?")(row) is is_answer
    assert required_of_row_by("¿Qué es la reserva?")(row)


@pytest.mark.parametrize(
    "question",
    [
        "How much rain fell in May?",
        "When was the fee paid?",
        "Was the rent paid in March?",
        "How much time do I have to pay the fine?",
        "What drove the cost of sales?",
        "Who pays for it?",
        "What year group is she in?",
        "How long is the bridge?",
        "How long may a title be?",
        "What resolution did the board pass?",
        "How many years old is the oldest tree?",
        "Was ist eine Kosten-Nutzen-Rechnung?",
    ],
)
def test_other_questions_require_nothing(question: str) -> None:
    assert required_by(question)("It is so.")


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("What percentage of them are women?", "There are 41,000 women.", True),
        ("What percentage of them are women?", "About 49% are women.", False),
        ("Wie hoch ist der Frauenanteil?", "Es gibt 41.000 Frauen.", True),
        ("Wie hoch ist der Frauenanteil?", "Die Hälfte sind Frauen.", False),
        ("How many women are there?", "There are 41,000 women.", False),
    ],
)
def test_who_asks_for_a_percentage_is_told_one(question: str, text: str, lacks: bool) -> None:
    assert lacks_percentage(question, text) is lacks
