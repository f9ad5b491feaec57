"""Reports are told apart by the period, the form and the company that a question names."""

from __future__ import annotations

from uuid import uuid4

import pytest

from search.named_documents import as_columns_say, documents_named

NVIDIA = ("2022_Q3_NVDA.pdf", "2023_Q1_NVDA.pdf", "2023_Q3_NVDA.pdf")
OTHERS = ("ADOBE_2022_10K.pdf", "BESTBUY_2024Q2_10Q.pdf", "Bericht 1. Quartal 2021.docx", "lighthouse.md")


def named(question: str, *names: str) -> set[str]:
    ids = {uuid4(): name for name in names or (*NVIDIA, *OTHERS)}
    return {ids[document] for document in documents_named(question, ids)}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What was revenue in the Q3 2022 10-Q?", {"2022_Q3_NVDA.pdf"}),
        ("What was revenue in the third quarter of fiscal 2023?", {"2023_Q3_NVDA.pdf"}),
        ("How did Q1 2023 compare with Q3 2023?", {"2023_Q1_NVDA.pdf", "2023_Q3_NVDA.pdf"}),
        ("Was there a drop between FY 2023 and Q2 of FY24?", {"BESTBUY_2024Q2_10Q.pdf"}),
        ("Wie hoch war der Umsatz im ersten Quartal 2021?", {"Bericht 1. Quartal 2021.docx"}),
        ("What does the 2022 annual report say of risks?", {"ADOBE_2022_10K.pdf"}),
        ("What was revenue in the latest quarter?", {"2023_Q3_NVDA.pdf"}),
        ("Welche Risiken nennt der neueste Bericht?", {"2023_Q3_NVDA.pdf"}),
        ("Does Adobe have a higher margin than before?", {"ADOBE_2022_10K.pdf"}),
        ("How many stores does Best Buy have?", {"BESTBUY_2024Q2_10Q.pdf"}),
    ],
)
def test_a_report_is_named(question: str, names: set[str]) -> None:
    assert named(question) == names


@pytest.mark.parametrize(
    "question",
    [
        "What was revenue in 2022?",
        "What was revenue in Q4 2019?",
        "Is Adobe larger than Nvidia?",
        "Who lived in the Lighthouse?",
        "What is the latest news?",
        "",
    ],
)
def test_no_report_is_named(question: str) -> None:
    assert named(question) == set()


def test_the_latest_is_one_of_the_series_found_first() -> None:
    assert named("What does the latest 10-Q say?", "ADOBE_2022_10K.pdf", *NVIDIA) == {"ADOBE_2022_10K.pdf"}
    assert named("What does the latest report say?", "lighthouse.md") == set()


def test_a_quarter_is_asked_for_in_the_words_of_tables() -> None:
    assert as_columns_say("Revenue in the Q3 2022 10-Q?") == "Revenue in the Q3 three months 2022 ?"
    assert as_columns_say("Revenue in the latest report?") == "Revenue in the ?"
    assert as_columns_say("Umsatz im 1. Quartal 2021?") == "Umsatz im 1. Quartal 2021?"
    assert as_columns_say("What is a 10-Q?") == "What is a 10-Q?"
    assert as_columns_say("Who lived in the lighthouse?") == "Who lived in the lighthouse?"
