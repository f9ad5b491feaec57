"""Contraries are told, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from search.citations.polarity import clauses_of, is_contrary

CONTRARY = {
    "en": [
        ("The warranty covers water damage.", "The warranty does not cover water damage."),
        ("The warranty does not cover water damage.", "The warranty covers water damage."),
        ("Visitors are allowed after 6 pm.", "No visitors are allowed after 6 pm."),
        ("The museum is open on Mondays.", "The museum isn't open on Mondays."),
        ("The museum is never open on Mondays.", "The museum is open on Mondays."),
        ("The contract can be extended.", "The contract cannot be extended."),
        ("Fees apply to students.", "Fees do not apply to students or pensioners."),
        ("The service runs on Sundays.", "The service runs daily. The bus service does not run on Sundays."),
        ("The flat has a balcony.", "The flat has no balcony, and the rent includes heating."),
        ("Nobody survived the wreck.", "He survived the wreck of 1871. The mate survived the wreck too."),
        ("In 2023 the plant was profitable.", "In 2023 the plant was not profitable."),
        ("Neither tea nor coffee is served.", "Tea or coffee is served in the lounge."),
        ("The trial did not show an effect.", "The trial showed an effect on mortality."),
        ("Tea and coffee are served.", "Tea and coffee are not served."),
    ],
    "de": [
        ("Die Garantie gilt für Batterien.", "Die Garantie gilt nicht für Batterien."),
        ("Die Garantie gilt nicht für Batterien.", "Die Garantie gilt für Batterien."),
        ("Das Haus hat einen Keller.", "Das Haus hat keinen Keller."),
        ("Hunde sind im Park erlaubt.", "Hunde sind im Park nicht erlaubt."),
        ("Der Vertrag wurde nie gekündigt.", "Der Vertrag wurde 2019 gekündigt."),
        ("Die Gebühr wird erstattet.", "Die Gebühr wird nicht erstattet."),
        ("Niemand überlebte den Untergang.", "Er überlebte den Untergang des Schiffs."),
        ("Das Gerät ist wasserdicht.", "Das Gerät ist nicht wasserdicht, aber staubdicht."),
    ],
}
ALIKE = {
    "en": [
        ("The warranty does not cover water damage.", "Water damage isn't covered by the warranty."),
        ("No visitors are allowed after 6 pm.", "Visitors are not allowed after 6 pm."),
        ("Smoking is not permitted in the main building.", "Smoking is prohibited in the main building."),
        ("Entry is not free.", "Entry costs 5 euros."),
        ("The roof was repaired in 1990.", "The lamp was not replaced, but the roof was repaired in 1990."),
        ("The east wing is open.", "The east wing is open and the west wing is not open."),
        ("The bridge was opened in 1990.", "The bridge was not opened until 1990."),
        ("It is fast and cheap.", "It is not only fast but also cheap."),
        ("At most five guests are allowed.", "No more than five guests are allowed."),
        ("Payment is due by 30 June.", "Payment is due no later than 30 June."),
        (
            "Dogs are allowed in the park.",
            "Dogs are allowed in the park. Dogs are not allowed in the cafe.",
        ),
        ("The pump can be used without a filter.", "The pump can be used without filters."),
        ("Without a permit entry is forbidden.", "Entry is forbidden without a permit."),
        ("The test was negative.", "The test did not find the virus; it was negative."),
        ("Members may vote.", "Members may vote, non-members may not."),
        ("He lived in Rome.", "He lived in Rome, never in Paris."),
        ("The lamp was lit in 1893.", "The lamp was lit in 1893. It was not electric."),
        ("The results do not differ.", "The results differ by less than 1 %, which is not significant."),
        ("The plant is not profitable.", "The plant was unprofitable in 2023."),
        ("No injuries were reported.", "There were no reported injuries."),
        ("The report gives no figure for 2022.", "Net revenue was 3.2 million in 2023."),
        ("Users who are not admins can read.", "Users can read. Admins can write."),
        ("The file isn't deleted unless you confirm.", "The file is deleted if you confirm."),
        ("It hardly rains in summer.", "It does not rain much in summer."),
    ],
    "de": [
        ("Die Garantie gilt nicht für Batterien.", "Für Batterien gilt die Garantie nicht."),
        ("Das Haus hat keinen Keller.", "Einen Keller hat das Haus nicht."),
        ("Die Brücke wurde 1990 eröffnet.", "Die Brücke wurde nicht vor 1990 eröffnet."),
        ("Es ist schnell und billig.", "Es ist nicht nur schnell, sondern auch billig."),
        ("Rauchen ist im Haus nicht erlaubt.", "Rauchen ist im Haus verboten."),
        (
            "Das Dach wurde 1990 erneuert.",
            "Die Lampe wurde nicht ersetzt, das Dach wurde 1990 erneuert.",
        ),
        ("Höchstens fünf Gäste sind erlaubt.", "Nicht mehr als fünf Gäste sind erlaubt."),
        ("Hunde sind im Park erlaubt.", "Hunde sind im Park erlaubt, im Café nicht."),
        ("In der Not hilft der Notar.", "Der Notar hilft in der Not."),
        ("Sie lebte in Rom.", "Sie lebte in Rom und nie in Paris."),
    ],
    "fr": [("La garantie couvre les dégâts.", "La garantie ne couvre pas les dégâts.")],
}


def pairs(table: dict[str, list[tuple[str, str]]]) -> list[tuple[str, str, str]]:
    return [(language, *pair) for language, listed in table.items() for pair in listed]


@pytest.mark.parametrize(("language", "claim", "source"), pairs(CONTRARY))
def test_contraries_are_told(language: str, claim: str, source: str) -> None:
    assert is_contrary(claim, language, clauses_of(source, language))


@pytest.mark.parametrize(("language", "claim", "source"), pairs(ALIKE))
def test_nothing_else_is_taken_for_one(language: str, claim: str, source: str) -> None:
    assert not is_contrary(claim, language, clauses_of(source, language))


@pytest.mark.parametrize(("language", "claim", "source"), pairs(CONTRARY) + pairs(ALIKE))
def test_a_source_never_contradicts_itself(language: str, claim: str, source: str) -> None:
    for text in (claim, source):
        assert not is_contrary(text, language, clauses_of(text, language))


def test_where_the_language_is_unknown_both_are_tried() -> None:
    assert is_contrary("The museum is open.", None, clauses_of("The museum is not open.", None))
    assert is_contrary("Das Gerät ist dicht.", None, clauses_of("Das Gerät ist nicht dicht.", None))
