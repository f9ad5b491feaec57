"""Data sets: what is read from each layout, and what is said about a line that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from search.evaluation.datasets import BadDataset, Judgement, load

PASSAGES = [
    {"passage_id": "p1", "title": "Lamps & <b>", "text": "# One lamp\n\nburns. <p>", "lang": "en"},
    {"passage_id": "p2", "title": "", "text": "Two lamps burn."},
]
QUERIES = [{"query_id": "q1", "text": "Which lamp?"}, {"query_id": "q2", "text": "Nobody judged this."}]
QRELS = [
    {"query_id": "q1", "passage_id": "p1", "relevance": 2},
    {"query_id": "q1", "passage_id": "p2", "relevance": 0},
]


def write(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


@pytest.fixture
def passages(tmp_path: Path) -> Path:
    write(tmp_path / "passages.jsonl", *PASSAGES)
    write(tmp_path / "queries.jsonl", *QUERIES)
    write(tmp_path / "qrels.jsonl", *QRELS)
    return tmp_path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write(tmp_path / "docs" / "a.pdf")
    write(tmp_path / "docs" / "b.pdf")
    write(tmp_path / "docs" / ".hidden")
    return tmp_path


def question(**fields: Any) -> dict[str, Any]:
    return {"question": "How many lamps?", **fields}


# --- What is read ------------------------------------------------------------------------------------------


def test_a_folder_of_passages(passages: Path) -> None:
    dataset = load(passages)
    [query] = dataset.queries
    assert (query.text, query.judgements) == ("Which lamp?", (Judgement("p1", relevance=2.0),))
    assert query.place == "queries.jsonl, line 1"
    assert dataset.left_out == 1
    assert [source.key for source in dataset.sources] == ["p1", "p2"]


def test_a_passage_is_a_document_whose_text_is_never_markup(passages: Path) -> None:
    first, second = load(passages).sources
    with first.open() as content:
        html = content.read().decode()
    assert "<h1>Lamps &amp; &lt;b&gt;</h1><p># One lamp\n\nburns. &lt;p&gt;</p>" in html
    assert (first.name, first.language) == ("Lamps & <b>.html", "en")
    assert (second.name, second.language) == ("p2.html", None)


def test_one_language_can_ask_about_another(tmp_path: Path) -> None:
    for lang in ("en", "de"):
        passage = {"passage_id": f"{lang}:p", "parallel_id": "p", "text": "…", "lang": lang}
        write(tmp_path / f"passages.{lang}.jsonl", passage)
        write(
            tmp_path / f"queries.{lang}.jsonl", {"query_id": f"{lang}:q", "parallel_id": "q", "text": "Wer?"}
        )
    write(tmp_path / "qrels.jsonl", {"parallel_query_id": "q", "parallel_passage_id": "p", "relevance": 1})
    dataset = load(tmp_path, queries="queries.de.jsonl", passages="passages.en.jsonl")
    assert dataset.queries[0].judgements == (Judgement("en:p"),)
    assert dataset.name.endswith("(queries.de.jsonl → passages.en.jsonl)")
    with pytest.raises(BadDataset, match=r"no .*passages.jsonl.* passages.de.jsonl, passages.en.jsonl"):
        load(tmp_path)


def test_a_folder_of_files(files: Path) -> None:
    write(
        files / "questions.jsonl",
        question(doc="a.pdf", evidence=[{"page_number": 3}, {"page_number": None}, {"page_number": 3}]),
        question(doc="a.pdf", evidence=[]),
        question(relevant_docs=["b.pdf", "a.pdf"]),
    )
    dataset = load(files)
    assert [query.judgements for query in dataset.queries] == [
        (Judgement("a.pdf", 3),),
        (Judgement("b.pdf"), Judgement("a.pdf")),
    ]
    assert dataset.left_out == 1
    assert [source.key for source in dataset.sources] == ["a.pdf", "b.pdf"]


def test_questions_of_ones_own(tmp_path: Path) -> None:
    path = write(
        tmp_path / "mine.jsonl",
        {"query": "Which?", "relevant": [{"document": "a.pdf", "page": 2, "text": "lamp"}]},
        "",
        {"query": "Who?", "relevant": [{"document": "b.pdf"}]},
    )
    dataset = load(path)
    assert dataset.sources is None
    assert [query.place for query in dataset.queries] == ["mine.jsonl, line 1", "mine.jsonl, line 3"]
    assert dataset.queries[0].judgements == (Judgement("a.pdf", 2, "lamp"),)


@pytest.mark.slow("corpora")
@pytest.mark.parametrize("name", ["squad_dev", "nq_uda"])
def test_the_real_sets_are_read(shared_data: Path, name: str) -> None:
    dataset = load(shared_data / "text_retrieval" / name)
    assert dataset.left_out == 0
    assert len({source.key for source in dataset.sources}) == len(dataset.sources) > 300


# --- What is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "Invalid JSON"),
        ("[]", "Input should be an object"),
        ({"relevant": [{"document": "a"}]}, "query: Field required"),
        ({"query": "", "relevant": [{"document": "a"}]}, "query: .* at least 1 character"),
        ({"query": "Who?", "relevant": []}, "relevant: .* at least 1 item"),
        ({"query": "Who?", "relevant": [{"document": "a", "page": 0}]}, "relevant.0.page: "),
        ({"query": "Who?", "relevant": [{"document": "a", "pages": 1}]}, "relevant.0.pages: Extra inputs"),
    ],
)
def test_a_bad_line_is_told_with_its_number(tmp_path: Path, line: Any, problem: str) -> None:
    path = write(tmp_path / "mine.jsonl", {"query": "Who?", "relevant": [{"document": "a"}]}, line)
    with pytest.raises(BadDataset, match=rf"mine\.jsonl, line 2: {problem}"):
        load(path)


def test_all_bad_lines_are_told_at_once_but_not_thousands(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", *["no"] * 13)
    with pytest.raises(BadDataset, match="line 1:") as error:
        load(path)
    assert len(str(error.value).splitlines()) == 11
    assert "… and 3 more" in str(error.value)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"query_id": "q1", "passage_id": "p9"}, "no passage p9"),
        ({"query_id": "q1"}, "passage_id"),
    ],
)
def test_a_judgement_of_nothing_is_refused(passages: Path, row: Any, problem: str) -> None:
    write(passages / "qrels.jsonl", row)
    with pytest.raises(BadDataset, match=f"qrels.jsonl, line 1: .*{problem}"):
        load(passages)


@pytest.mark.parametrize(
    ("row", "problem"),
    [(question(), "doc or relevant_docs"), (question(doc="c.pdf"), "docs/ holds no c.pdf")],
)
def test_a_question_about_a_missing_file_is_refused(files: Path, row: Any, problem: str) -> None:
    write(files / "questions.jsonl", row)
    with pytest.raises(BadDataset, match=f"questions.jsonl, line 1: .*{problem}"):
        load(files)


def test_what_is_no_data_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadDataset, match="neither qrels"):
        load(tmp_path)
    with pytest.raises(BadDataset, match="does not exist"):
        load(tmp_path / "nothing")
    with pytest.raises(BadDataset, match="holds no question"):
        load(write(tmp_path / "empty.jsonl"))
    (tmp_path / "latin.jsonl").write_bytes(b"\xe9")
    with pytest.raises(BadDataset, match="can't be read"):
        load(tmp_path / "latin.jsonl")
