"""Challenges: pages shown to programs instead of the real page. They are never a source.

Recognised by what their makers document or send, never by words such as “captcha”, which ordinary pages
contain too. Marks of scripts count only if there is almost no text: a site may use the same scripts and still
show its page.
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
# The maximal text of such a challenge, and of a page that only works with scripts.
CHALLENGE_CHARS, WITHOUT_SCRIPTS_CHARS = 1000, 300


def is_refusal(status: int | None, headers: Mapping[str, str]) -> bool:
    """Return whether a response with this status, other than 2xx, comes from a challenge; None is no
    response."""
    return _has(headers, HEADERS) or (status in REFUSED and _has(headers, REFUSING_HEADERS))


def is_challenge(headers: Mapping[str, str], page: bytes, text: str) -> bool:
    """Return whether a page is a challenge; `text` is its readable text."""
    if _has(headers, HEADERS):
        return True
    begun = page[:LOOKED_AT_BYTES]
    if len(text) < WITHOUT_SCRIPTS_CHARS and WANTS_SCRIPTS.search(begun):
        return True
    return len(text) < CHALLENGE_CHARS and MARKS.search(begun) is not None


def _has(headers: Mapping[str, str], marks: tuple[tuple[str, re.Pattern[str]], ...]) -> bool:
    return any(name in headers and mark.fullmatch(headers[name]) for name, mark in marks)
