"""Other people's protocols: translation alone, on the same executions as every transport.

request.py       bodies of `/v1/responses`      completions.py   bodies of `/v1/chat/completions`
conversation.py  messages ─▶ question, turns    wanted_tools.py  `tools` ─▶ documents, web, fetching
plan.py          all of them ─▶ the call of one tool
cited.py         a tool's result ─▶ text with `[n]`, its sources, annotations
response.py      an execution ─▶ the response object
stream.py        events ─▶ events of a response        chunks.py  events ─▶ chunks of a completion
errors.py        our errors in OpenAI's form           leaving.py who leaves, leaves no run behind
computing.py     turns and counts of `/v1/embeddings` and `/v1/rerank`
file_search/     OpenAI's files and vector stores
mcp/             the Model Context Protocol
"""
