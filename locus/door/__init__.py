"""Checks every request before Django and Channels see it.

`connections`   connections that never send a request, or too many from one address (inside uvicorn)
`middleware`    the ASGI middleware: request ids, proxies, hosts, CORS, caching, and the refusals below
`bodies`        how large a body may be, how fast it must come, and who may send a large one
`cors`          which foreign pages may read replies
`handler`       Django's handler, which keeps bodies below `DATA_DIR`
`log_flood`     limits the log lines that strangers can cause
"""
