"""OAuth 2.1 for `/mcp`: people connect programs, which get no more than they allow (ADR 69).

discovery.py    where things are: RFC 9728 and RFC 8414
registering.py  a program says its name and where its answers go: RFC 7591
server.py       codes and tokens by oauthlib: PKCE, rotation, resource indicators, revocation
connections.py  what a person has allowed a program, and the principal of its tokens
authentication.py  who asks at `/mcp`
views.py        what programs call      pages.py  what people see
sweeping.py     what has expired goes
"""
