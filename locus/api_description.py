"""The description of the API as a whole, in its schema."""

INTRODUCTION = """
Put documents in, ask, and get answers in which every sentence names the exact place it came from.

**Who is asking.** Send an API key as `Authorization: Bearer KEY` or `X-API-KEY: KEY`; make one on the page
*API keys*, or by `manage.py create_api_key`. Its scopes: `read` reads and asks, `write` changes documents,
`admin` does the rest. In a browser the login's session cookie does, with a CSRF token for every change.
`POST auth/token` turns a key into a short-lived token for the browsers of your own customers. It goes where
the key goes, and as `?token=` to event streams, websockets, files and images of pages.

**External users.** A program speaks for one of its own customers by the header `X-External-User-Id` (also
`X-End-User-ID` or `external_user_id`, or a field of that name in a body). Each sees its own documents, and
shared ones where the workspace allows that. What the caller may not see does not exist for it: 404.

**Errors** are `{"error": {"code", "message", "param"?, "details"?}}`. Unknown fields and query parameters
are refused (`unknown_field`): a misspelt filter must not widen a list.

**Lists** are `{"results", "next", "previous"}` with whole URLs. **Uploads and runs** take an
`Idempotency-Key`: the same request with the same key gets the same reply for 24 hours. `GET` of a document,
file, page or chunk has an `ETag`; `If-None-Match` answers 304. `If-Match` keeps a change of a document from
overwriting another.

**Streams** are Server-Sent Events. Each event has a number; come back with `Last-Event-ID`, or `?after=`, at
`GET executions/{id}/events`. Events above `sse_max_bytes` come in slices, `_delta_sse`. Every tool stream
ends with `tool_end` or `error`. The same events come by websocket at `/ws/tools/{name}`.
""".strip()

TAGS = [
    {"name": "Documents", "description": "Add, list, change, follow and delete documents."},
    {"name": "Chunks", "description": "Passages with their exact places."},
    {"name": "Search", "description": "Passages for a question, without an answer."},
    {
        "name": "Tools",
        "description": "Pipelines that programs and models run: `rag_search` …",
    },
    {"name": "Executions", "description": "Runs of tools: status, result, events."},
    {"name": "Conversations", "description": "Questions that know what was said, and their answers."},
    {"name": "Assistants", "description": "Named ways to answer, their versions and bindings."},
    {"name": "Workspaces", "description": "The units of sharing, and what they set."},
    {
        "name": "External users",
        "description": "The customers that programs speak for: list, look at, delete.",
    },
    {"name": "Webhooks", "description": "Addresses that are told what happens in a workspace."},
    {"name": "Tool servers", "description": "Servers whose tools assistants of a workspace may use."},
    {"name": "API keys", "description": "Credentials of programs."},
    {"name": "Deployment", "description": "For its administrators: the model that writes answers."},
    {"name": "Account", "description": "Who is asking, and what they prefer."},
]
