"""What stands before Django and Channels for every request.

`connections`   connections that never send a request, or too many from one address (inside uvicorn)
`middleware`    the ASGI middleware: request ids, proxies, hosts, CORS, caching, and the refusals below
`bodies`        how large a body may be, how fast it must come, and who may send a large one
`cors`          which foreign pages may read replies
`per_user`      how many streams, sockets and uploads one user may have open
`handler`       Django's handler, which keeps bodies below `DATA_DIR`
"""
