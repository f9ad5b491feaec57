"""`manage.py evaluate`: from a data set to figures and a report, through the real worker and pipeline."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from lxml import html
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.access.identity import principal_of_user
from core.locations import Box, LocatedText, OnPage, Page
from kb.models import Chunk, Document, Status
from search.evaluation import collection as collections
from search.evaluation.collection import Case, Collection, Target, collect, pages_of
from search.evaluation.datasets import BadDataset, Dataset, Judgement, Query
from search.evaluation.report import EvaluationReport
from search.evaluation.run import BadSetting, ablation, combinations, distinct, evaluate, judge, sweep
from search.questions import DEFAULT
from search.retrieval import RankedChunk, Scores
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document, stored_document
from tests.testing.paths import SAMPLES

LIGHTHOUSES = SAMPLES / "lighthouses"
EMAIL = "alice@example.org"


@pytest.fixture(autouse=True)
def _fast_model_and_wide_terminal(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMBEDDING_BACKEND = settings.EMBEDDING_MODEL = "hashing"
    monkeypatch.setenv("COLUMNS", "200")


def run(*arguments: str | Path, user: str = EMAIL, workspace: str = "Team") -> None:
    call_command("evaluate", *map(str, arguments), "--workspace", workspace, "--user", user)


def nothing(*_: object) -> None:
    """Do not show progress."""


# --- The command -------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_passages_are_added_once_and_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_cast()
    report = tmp_path / "report.html"
    run(LIGHTHOUSES, "--ingest-here", "--report", report)
    out = capsys.readouterr().out
    assert "lighthouses: 5 questions over 6 documents" in out
    assert "name nothing that is relevant: 1." in out
    for stage in ("words only", "vector only", "fused"):
        assert stage in out
    documents = Document.unscoped.all()
    assert {document.status for document in documents} == {Status.READY}
    chunk = Chunk.unscoped.get(document__name="Wrecks.html")
    assert chunk.headings == ["Wrecks"]
    assert chunk.text.endswith("<Three> sailors reached the shore.")
    assert not ProcrastinateJob.objects.filter(status__in=["todo", "doing"]).exists()
    check_page(report)

    run(LIGHTHOUSES)
    again = capsys.readouterr().out
    assert Document.unscoped.count() == 6
    figures = re.compile(r"\d\.\d{3}")
    assert figures.findall(again) == figures.findall(out)


@pytest.mark.django_db(transaction=True)
def test_files_are_asked_by_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_cast()
    (tmp_path / "docs").mkdir()
    shutil.copy(SAMPLES / "report.pdf", tmp_path / "docs")
    rows = [{"question": "What is it about?", "doc": "report.pdf", "evidence": [{"page_number": 2}]}]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run(tmp_path, "--ingest-here")
    assert "1 question over 1 document" in capsys.readouterr().out


def test_without_a_worker_it_says_what_to_do_and_loses_nothing(cast: Cast) -> None:
    with pytest.raises(CommandError, match="--ingest-here") as stopped:
        run(LIGHTHOUSES)
    assert stopped.value.returncode == 2
    assert Document.unscoped.filter(status=Status.QUEUED).count() == 6


def test_it_waits_for_a_worker_elsewhere(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = [indexed_document(cast.team, f"Lamp {n}.") for n in range(3)]
    ids = [document.pk for document in waiting]
    Document.unscoped.update(status=Status.INDEXING)

    def work(_: float) -> None:
        first = Document.unscoped.filter(status=Status.INDEXING)[:1].get()
        Document.unscoped.filter(pk=first.pk).update(status=Status.READY)

    monkeypatch.setattr("search.evaluation.collection.time.sleep", work)
    principal = principal_of_user(cast.alice)
    assert list(collections.progress(principal, ids, lambda: True)) == [1, 1, 1]
    Document.unscoped.update(status=Status.QUEUED)
    assert list(collections.progress(principal, ids, lambda: False)) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "words"], "NAME=VALUE"),
        (["--set", "wrods=1"], "no setting “wrods”.*words"),
        (["--set", "words=many"], "words is a float, not “many”"),
        (["--sweep", str(SAMPLES / "notes.md")], "notes.md is not"),
        (["--queries", "nothing.jsonl"], "queries.jsonl"),
    ],
)
def test_a_mistake_is_said_before_anything_is_added(cast: Cast, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run(LIGHTHOUSES, *arguments)
    assert not Document.unscoped.exists()


def test_who_and_where_must_exist(cast: Cast) -> None:
    with pytest.raises(CommandError, match="no user"):
        run(LIGHTHOUSES, user="nobody@example.org")
    with pytest.raises(CommandError, match="no workspace"):
        run(LIGHTHOUSES, user="charlie@example.org")
    with pytest.raises(CommandError, match="editor"):
        run(LIGHTHOUSES, user="bob@example.org")


@pytest.fixture
def mine(cast: Cast, tmp_path: Path) -> Path:
    """Alice's own questions about two documents in her workspace."""
    indexed_document(cast.team)
    indexed_document(cast.team, "Tea roses are pruned in late winter.", name="roses.pdf")
    path = tmp_path / "mine.jsonl"
    rows = [
        {"query": "Who owns the farm?", "relevant": [{"document": "solar.pdf", "text": "its  OWNER is"}]},
        {"query": "When are roses pruned?", "relevant": [{"document": "roses.pdf", "page": 1}]},
        {"query": "Was it sunny in Almería?", "relevant": [{"document": "solar.pdf"}]},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_questions_of_ones_own_need_no_worker(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(mine, user="bob@example.org")
    assert "mine: 3 questions over 2 documents" in capsys.readouterr().out
    run(mine, "--sample", "2")
    assert "mine: 2 questions over 2 documents" in capsys.readouterr().out


def test_a_sweep_ends_with_its_best_setting_first(
    mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sweep.json"
    file.write_text('{"words": [0, 1]}')
    run(mine, "--sweep", file, "--set", "vector=0.0,1.0", "--by", "hit@1")
    out = capsys.readouterr().out
    assert out.count("words=") == 3  # the fourth is the product's own
    assert "the product's" in out
    assert "One data set alone" in out
    assert "words only" not in out
    means = [float(mean) for mean in re.findall(r"(?:vector=\S+|the product's) +(\d\.\d+)", out)]
    assert means == sorted(means, reverse=True)

    report = tmp_path / "report.html"
    run(mine, mine, "--sweep", file, "--report", report)
    out = capsys.readouterr().out
    assert "One data set alone" not in out
    assert "Sweep" in check_page(report)


# --- What is relevant --------------------------------------------------------------------------------------


def collected(cast: Cast, *judgements: Judgement) -> Collection:
    dataset = Dataset("mine", (Query("Who?", judgements, "mine.jsonl, line 7"),))
    return collect(principal_of_user(cast.alice), cast.team.pk, dataset, {})


def test_a_document_is_known_by_name_or_id(cast: Cast) -> None:
    document = indexed_document(cast.team)
    for name in ("solar.pdf", str(document.pk)):
        [case] = collected(cast, Judgement(name)).cases
        assert [target.document_id for target in case.targets] == [document.pk]


@pytest.mark.parametrize(
    ("judgement", "message"),
    [
        (Judgement("solr.pdf"), r"line 7: .*no document “solr.pdf”. Did you mean “solar.pdf”"),
        (Judgement("solar.pdf", page=2), "line 7: .*no page 2"),
        (Judgement("solar.pdf", text="moon"), "line 7: no chunk of “solar.pdf” holds “moon”"),
        (Judgement("twice.pdf"), "line 7: several documents"),
    ],
)
def test_what_is_not_there_is_told(cast: Cast, judgement: Judgement, message: str) -> None:
    for name in ("solar.pdf", "twice.pdf", "twice.pdf"):
        indexed_document(cast.team, name=name)
    with pytest.raises(BadDataset, match=message):
        collected(cast, judgement)


def test_other_peoples_documents_are_not_there(cast: Cast) -> None:
    secret = indexed_document(cast.charlie.personal_workspace, name="secret.pdf")
    for name in ("secret.pdf", str(secret.pk)):
        with pytest.raises(BadDataset, match="no document"):
            collected(cast, Judgement(name))


def on_pages(*pages: int) -> LocatedText:
    words = [(f"word{n}", OnPage(Page(n, 600, 800), 1, Box(0, 0, 9, 9))) for n in pages]
    return LocatedText.of_words(words)


def test_a_chunk_is_on_every_page_it_touches(cast: Cast) -> None:
    document = stored_document(
        cast.team, "long.pdf", b"%PDF", [on_pages(1, 2), on_pages(2, 3), on_pages(4)], page_count=5
    )
    chunks = list(Chunk.unscoped.filter(document=document).order_by("ordinal"))
    assert [pages_of(chunk) for chunk in chunks] == [{1, 2}, {2, 3}, {4}]
    found = collected(cast, Judgement("long.pdf", page=2), Judgement("long.pdf", page=5))
    assert [target.chunks for target in found.cases[0].targets] == [
        {chunks[0].pk, chunks[1].pk},
        frozenset(),
    ]
    assert found.notes == ("Questions with a relevant page that holds no text, which counts as missed: 1.",)


def test_a_data_sets_own_documents_are_searched_alone(cast: Cast) -> None:
    inside, _ = indexed_document(cast.team), indexed_document(cast.team, name="other.pdf")
    dataset = Dataset("set", (Query("Who?", (Judgement("key"),), "line 1"),), sources=())
    found = collect(principal_of_user(cast.alice), cast.team.pk, dataset, {"key": inside.pk})
    assert found.document_ids == (inside.pk,)
    assert found.document_count == 1


# --- Ranks -------------------------------------------------------------------------------------------------


def results(*documents: str) -> list[RankedChunk]:
    ids = {name: uuid4() for name in documents}
    return [RankedChunk(Chunk(id=uuid4(), document_id=ids[name]), 1.0, 1.0, Scores()) for name in documents]


def test_of_a_document_the_first_chunk_counts_and_of_chunks_each() -> None:
    found = results("a", "a", "b", "a", "c")
    document, chunk = found[4].chunk.document_id, found[4].chunk.pk
    whole = Case("?", (Target(document, None, 1.0, ""),))
    part = Case("?", (Target(document, frozenset({chunk}), 1.0, ""),))
    assert judge(whole, distinct(whole, found)).ranks == (3,)
    assert judge(part, distinct(part, found)).ranks == (5,)
    assert judge(part, distinct(part, [found[0], found[0], found[4]])).ranks == (2,)
    assert judge(whole, []).ranks == (None,)


def test_the_ablation_ends_with_the_whole_pipeline() -> None:
    stages = ablation(DEFAULT)
    assert list(stages)[:2] == ["words only", "vector only"]
    assert list(stages.values())[-1] == DEFAULT
    assert (stages["words only"].words, stages["words only"].vector) == (DEFAULT.words, 0)


def test_combinations_are_all_and_typed() -> None:
    assert combinations({}) == [{}]
    assert combinations({"words": ["1", "0.5"], "vector": ["2"]}) == [
        {"words": 1.0, "vector": 2.0},
        {"words": 0.5, "vector": 2.0},
    ]
    with pytest.raises(BadSetting):
        combinations({"words": ["true"]})


# --- The report --------------------------------------------------------------------------------------------


def check_page(path: Path) -> str:
    """Return the page, which must be well formed and ask nothing of anybody."""
    page = path.read_text()
    assert "{%" not in page
    assert "{{" not in page
    tree = html.document_fromstring(page)
    for element in tree.iter():
        assert element.tag not in ("script", "link", "iframe", "img")
        assert not {"src", "href", "xlink:href", "srcset"}.intersection(element.attrib)
    assert not re.search(r"url\(|@import|https?://", page)
    opened = re.findall(r"<(section|details|figure|ul|ol|svg|table|main|div)\b", page)
    closed = re.findall(r"</(section|details|figure|ul|ol|svg|table|main|div)>", page)
    assert sorted(opened) == sorted(closed)
    assert "nan" not in " ".join(tree.xpath("//@style"))
    return page


@pytest.fixture
def asked(cast: Cast) -> Callable[..., EvaluationReport]:
    """Evaluate questions about one document of alice's."""

    def asked(query: str, text: str, *, is_there: bool = True) -> EvaluationReport:
        document = indexed_document(cast.team, text, name="<script>.pdf")
        targets = (Target(document.pk, None if is_there else frozenset(), 1.0, document.name),)
        one = Collection("<mine>", cast.team.pk, (Case(query, targets),), None, 1, ("a note",))
        evaluation = evaluate(principal_of_user(cast.alice), one, ablation(DEFAULT), nothing)
        return EvaluationReport.of([evaluation], DEFAULT)

    return asked


def test_the_report_shows_what_was_found_instead(
    asked: Callable[..., EvaluationReport], tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    page.write_text(asked("<b>Qqq?</b>", "Zzz. <img src=x>", is_there=False).html())
    shown = check_page(page)
    assert "&lt;b&gt;Qqq?" in shown
    assert "&lt;script&gt;.pdf" in shown
    assert "a note" in shown
    assert "nothing relevant among the first 100 chunks" in shown


def test_the_report_says_where_a_relevant_one_stood(asked: Callable[..., EvaluationReport]) -> None:
    report = asked("Who owns the solar farm?", "The town owns the solar farm.")
    [section] = report.sections
    assert section.worst == ()
    measures = ["nDCG@10", "MRR@10", "recall@10", "recall@50"]
    assert [panel.title for panel in section.panels] == [
        *measures,
        "Recall",
        "Reliability",
        "Time per question",
    ]
    for bar in (bar for panel in section.panels for bar in panel.bars):
        assert 0 <= float(bar.low.rstrip("%")) <= float(bar.high.rstrip("%")) <= 100
    assert section.rows[-1].stage == "reranked"
    [bar] = section.panels[-2].bars
    assert (bar.label, bar.value) == ("0.8–1.0, 1", "1.000")
    assert f"--mark:{bar.mark}" in report.html()


def test_a_sweep_compares_with_the_products_settings(cast: Cast) -> None:
    document = indexed_document(cast.team)
    cases = (Case("Who owns the solar farm?", (Target(document.pk, None, 1.0, ""),)),)
    one = Collection("mine", cast.team.pk, cases, None, 1, ())
    trials = sweep(principal_of_user(cast.alice), [one], [{"words": 0.0, "vector": 0.0}], "nDCG@10", nothing)
    assert [trial.changed for trial in trials] == [{}, {"words": 0.0, "vector": 0.0}]
    assert trials[1].gain is not None
    assert trials[1].gain.mean == -1.0
