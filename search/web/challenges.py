"""Pages that are shown to programs in place of the page: they are no source.

Decided by what the makers of such walls document or send, never by words such as “captcha”, which ordinary
pages contain too. Marks of scripts count only where next to nothing is to be read: a site may protect itself
with the same scripts and show its page all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

HEADERS = (
    # developers.cloudflare.com/cloudflare-challenges: “Detect a Challenge Page response”
    ("cf-mitigated", re.compile("challenge")),
    # docs.aws.amazon.com/waf: “CAPTCHA and Challenge action behavior”, with status 405 and 202
    ("x-amzn-waf-action", re.compile("challenge|captcha")),
)
# Of servers that stand before a site, where they refuse by themselves. DataDome: 401 or 403 with its header.
REFUSING_HEADERS = (("server", re.compile("akamaighost", re.IGNORECASE)), ("x-datadome", re.compile(".*")))
REFUSED = frozenset({401, 403, 429})
MARKS = re.compile(
    rb"_cf_chl_opt|id=[\"']challenge-(?:form|running|error-text)"  # Cloudflare
    rb"|captcha-delivery\.com"  # DataDome
    rb"|sec-if-cpt-container|/_sec/cp_challenge/"  # Akamai
    rb"|_Incapsula_Resource"  # Imperva
    rb"|id=[\"']px-captcha"  # HUMAN
    rb"|\.awswaf\.com/"  # AWS
)
WANTS_SCRIPTS = re.compile(
    rb"(?:enable|activate|turn on|allow|needs?|requires?)\s+(?:cookies\s+and\s+)?javascript"
    rb"|javascript\s+(?:is|has been|seems to be)\s+(?:disabled|required|not enabled|turned off)",
    re.IGNORECASE,
)
LOOKED_AT_BYTES = 256 * 1024
# What a wall of such a maker has at most to say, and what a page that asks for scripts has without them.
WALL_CHARS, WITHOUT_SCRIPTS_CHARS = 1000, 300


def is_refusal(status: int | None, headers: Mapping[str, str]) -> bool:
    """Tell whether an answer with this status, other than 2xx, comes from a wall; None is no answer."""
    return _has(headers, HEADERS) or (status in REFUSED and _has(headers, REFUSING_HEADERS))


def is_wall(headers: Mapping[str, str], page: bytes, text: str) -> bool:
    """Tell whether a page, of which `text` is what can be read, is a wall."""
    if _has(headers, HEADERS):
        return True
    begun = page[:LOOKED_AT_BYTES]
    if len(text) < WITHOUT_SCRIPTS_CHARS and WANTS_SCRIPTS.search(begun):
        return True
    return len(text) < WALL_CHARS and MARKS.search(begun) is not None


def _has(headers: Mapping[str, str], marks: tuple[tuple[str, re.Pattern[str]], ...]) -> bool:
    return any(name in headers and mark.fullmatch(headers[name]) for name, mark in marks)
