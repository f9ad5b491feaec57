"""Nobody but the gateway calls a chat model, and nobody calls one without saying who pays."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

from core.llm.gateway import ChatModel
from search.generation.base import Generator
from search.rerank.base import Reranker
from search.retrieval import rank

ROOT = Path(__file__).parents[3]
ROOMS = ("core", "extract", "accounts", "kb", "runs", "ingestion", "search", "assistants", "locus")
LIBRARIES = {"pydantic_ai", "anthropic", "openai"}
# The web search that is built into Anthropic's API: docs/adr/0033-one-gateway-to-chat-models.md.
SPEAKS_ITSELF = {"search/web/providers/anthropic.py"}
UNRECORDED = {
    "core/llm/payment.py": "where it is declared",
    "search/rerank/llm.py": "the check at the start",
    "search/rerank/cross_encoder.py": "the check at the start",
    "search/evaluation/run.py": "an evaluation by the operator",
}


def sources() -> Iterator[tuple[str, str]]:
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            yield str(path.relative_to(ROOT)), path.read_text("utf-8")


def imported(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_only_the_gateway_knows_the_model_libraries() -> None:
    users = {path for path, text in sources() if LIBRARIES & set(imported(text))}
    assert {path for path in users if not path.startswith("core/llm/")} == set()


def test_only_the_gateway_knows_the_addresses_of_models() -> None:
    paths = ("chat/completions", "v1/messages", "v1/responses", "core.llm.anthropic")
    speakers = {
        path
        for path, text in sources()
        for node in ast.walk(ast.parse(text))
        if (isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value)
        and any(each in node.value for each in paths)
    }
    users = {path for path, text in sources() if "from core.llm.anthropic import" in text}
    # Where we serve these addresses ourselves, nobody is called.
    serving = ("assistants/gateway/", "core/http/error_pages.py", "locus/urls.py")
    others = {path for path in speakers | users if not path.startswith(("core/llm/", *serving))}
    assert others <= SPEAKS_ITSELF, others - SPEAKS_ITSELF


def test_who_pays_has_no_default() -> None:
    for function in (
        ChatModel.ask,
        ChatModel.stream,
        Generator.answer,
        Reranker.rerank,
        Reranker.score,
        rank,
    ):
        assert inspect.signature(function).parameters["payment"].default is inspect.Parameter.empty


def test_calls_that_nobody_records_are_few_and_have_a_reason() -> None:
    assert {path for path, text in sources() if "NoCharge(" in text} - UNRECORDED.keys() == set()
