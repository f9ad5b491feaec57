"""The Model Context Protocol: our tools for programs in which a language model decides what to call.

tools.py    what a model may call, and what it gets
server.py   the protocol, by the official package, for one principal
views.py    `/mcp`: streamable HTTP, one request at a time, nothing kept between them
"""
