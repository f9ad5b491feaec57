"""The tools of this product; a new tool is one more line here."""

from assistants.tools import AGENT, ANSWER, CHAT
from search.tools import RAG_SEARCH
from search.web.tools import WEB_FETCH, WEB_SEARCH

TOOLS = (RAG_SEARCH, WEB_SEARCH, WEB_FETCH, ANSWER, AGENT, CHAT)
