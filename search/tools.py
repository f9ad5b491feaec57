"""`rag_search` as a tool."""

from __future__ import annotations

from runs.registry import Tool
from search.events import Contexts, Phase, RagResult, WithheldContexts, WithheldResult, WithheldText
from search.inputs import MOST_QUERY_CHARS, searched_workspaces
from search.preferences import MAX_CONTEXTS
from search.rag import RagInput, rag_search

RAG_SEARCH = Tool(
    "rag_search",
    "Answers a question from the documents you may read; each sentence names the place it came from.",
    RagInput,
    rag_search,
    {"query_chars": MOST_QUERY_CHARS, "limit": MAX_CONTEXTS},
    results=(RagResult,),
    updates=(Phase, Contexts),
    withheld_results=(WithheldResult,),
    withheld_updates=(WithheldContexts,),
    withheld_texts=(WithheldText,),
    searched_workspaces=searched_workspaces,
)
