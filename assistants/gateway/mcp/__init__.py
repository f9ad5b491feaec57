"""The Model Context Protocol: our tools for programs in which a language model decides what to call.

resources.py documents and chunks by `locus://` addresses
adding.py   the tool that adds a document
running.py  tools that are executions
exchange.py one message, answered by the package's own application
tools.py    what a model may call, and what it gets
server.py   the protocol, by the official package, for one principal
views.py    `/mcp`: streamable HTTP, one request at a time, nothing kept between them
"""
