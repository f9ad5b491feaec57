"""The one gateway to chat models: nobody else calls one (docs/adr/0033-one-gateway-to-chat-models.md).

    request ─▶ payment: reserve ─▶ provider ─ again, if it may pass ─▶ words and usage ─▶ payment: settle

    registry.py  from a provider's name to its model    gateway.py   ask or stream, limits, retries
    base.py      requests, usage, providers             failures.py  what goes wrong, in our errors
    fencing.py   what is data and no instruction        prices.py    estimates and costs
    payment.py   who pays                               http.py      the HTTP client
    listing.py   the models of a server, and the servers of this machine

`anthropic.py`, `openai.py` and `openai_compatible.py` are the providers: one file each and a line in the
registry; `tests/conformance/test_chat_models.py` tests it by being there. Nothing is imported before one is
chosen.
"""
