"""What goes wrong between us and a chat model, and is no bug of ours."""

from __future__ import annotations

import httpx2
from pydantic_ai.exceptions import AgentRunError

KNOWN = (AgentRunError, httpx2.HTTPError, TimeoutError)
"""What the model library, the transport below it and our own clock raise."""
