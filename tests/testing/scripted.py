"""The web server with a tool that says a known text at a known pace.

Start it with `uvicorn tests.testing.scripted:application`.

`SCRIPT_WAIT_SECS` is what retrieval takes, and again the model's first token; `SCRIPT_PIECES` are then said,
one every `SCRIPT_PACE_SECS`.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accounts.principal import Principal
    from runs.context import Run
    from runs.events import Yielded
    from search.rag import RagInput

WAIT_SECS = float(os.environ.get("SCRIPT_WAIT_SECS", "0.05"))
PIECES = int(os.environ.get("SCRIPT_PIECES", "100"))
PACE_SECS = float(os.environ.get("SCRIPT_PACE_SECS", "0.2"))
WORDS = [
    "keeper ",
    "<source_1>",
    "lamp, ",
    "Ærø ",
    "灯台 ",
    "😀 ",
    '"quoted" ',
    "back\\slash ",
    "line\n",
    "tower. ",
]


def pieces(query: str) -> list[str]:
    """Return the pieces of the answer to a question: the same ones in every process."""
    chance = random.Random(query)
    return ["".join(chance.choices(WORDS, k=chance.randint(1, 4))) for _ in range(PIECES)]


async def scripted(principal: Principal, inputs: RagInput, run: Run) -> AsyncIterator[Yielded]:
    """Yield the events of `rag_search` as if documents and a model stood behind them."""
    from runs.events import PartialText, ToolEnd, ToolPartialUpdate, ToolUpdate, Trace, Usage
    from search.events import Contexts, Phase, RagResult

    yield ToolUpdate(data=Phase(execution_id=run.execution_id, phase="SEARCH_PREPARATION", status="started"))
    await asyncio.sleep(WAIT_SECS)
    yield ToolUpdate(data=Phase(phase="RETRIEVAL", status="completed", data={"retrieved_count": 0}))
    counts = {"initial_count": 0, "reranked_count": 0, "kept_count": 0}
    yield ToolUpdate(data=Phase(phase="RERANKING", status="completed", data=counts))
    yield ToolUpdate(data=Contexts(contexts=[]))
    yield ToolUpdate(data=Phase(phase="COMPILING_RESULTS", status="started"))
    await asyncio.sleep(WAIT_SECS)
    said = pieces(inputs.query)
    for piece in said:
        yield ToolPartialUpdate(data=PartialText(content=piece))
        await asyncio.sleep(PACE_SECS)
    usage = Usage(output_tokens=len(said))
    yield Trace(usage=usage, cost=0.0, timings={}, steps={})
    result = RagResult(
        response="".join(said),
        contexts=[],
        sources_used=[],
        model="scripted",
        execution_id=run.execution_id,
        answered=True,
        outcome="answered",
        citations_removed=0,
        usage=usage,
        timings={},
    )
    yield ToolEnd(data=result)


def __getattr__(name: str) -> object:
    """Make the application when the server asks for it: who only wants the text needs no Django."""
    if name != "application":
        raise AttributeError(name)
    from locus.asgi import application
    from runs.registry import TOOLS

    TOOLS["rag_search"] = replace(TOOLS["rag_search"], run=scripted)
    return application
