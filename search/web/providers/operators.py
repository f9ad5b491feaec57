"""Domain lists as words of the query, for engines that have no field for them: `site:` and `-site:`.

They only help to find enough; which hits stay is decided by a look at each.
"""

from __future__ import annotations

from search.web.base import WebQuery
from search.web.domains import in_all

MOST_DENIED = 20
"""A deployment may deny hundreds; what helps to find enough is a few."""


def with_sites(query: WebQuery, *, deny: bool = True, most_chars: int | None = None) -> str:
    """Return the words of the query with its lists, or without them if that is longer than `most_chars`."""
    allowed = dict.fromkeys(rule.site for rule in in_all(query.allow)) if query.allow else ()
    denied = dict.fromkeys(rule.site for rule in query.deny if rule.is_exactly_a_site) if deny else {}
    anywhere = " OR ".join(f"site:{host}" for host in allowed)
    words = [query.text, f"({anywhere})" if len(allowed) > 1 else anywhere]
    words += [f"-site:{host}" for host in list(denied)[:MOST_DENIED]]
    text = " ".join(word for word in words if word)
    return query.text if most_chars is not None and len(text) > most_chars else text
