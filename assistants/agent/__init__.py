"""The agent: a question is answered with as many calls of tools as it takes (ADR 63).

    question ─▶ planner ◀─ what calls gave ─┐        all sources, one numbering
                  │                         │                  │
                  └─▶ calls of tools ───────┴─▶ source book ───┴─▶ one answer, checked as every other

A planner only gathers. Who writes is the generator of all answers, behind the same gate and verifier.

loop.py      calls within the limits            documents.py, web.py  the tools
planners.py  by rule, or by a chat model        sources.py            one numbering over all calls
request.py   what is asked, and with what       guard.py              what may leave for the web
tool.py      the tool `agent`                   limits.py             the cap on costs
"""
