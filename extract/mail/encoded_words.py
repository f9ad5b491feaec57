"""Words of e-mail headers that the parser leaves encoded, because their sender broke the rules (RFC 2047)."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from quopri import decodestring

from extract.text.plain import decode_as

# Rule-breakers put blanks into the text, break it over lines, and put such words side by side.
ENCODED = re.compile(r"=\?([\w.:*-]{2,40})\?([bBqQ])\?([^?]{0,2000})\?=(?:\s{1,20}(?==\?))?")


def decode_words(header: str) -> str:
    """Return a header with its encoded words decoded; one that can't be stays as it is."""
    return ENCODED.sub(_decoded, header) if "=?" in header else header


def _decoded(word: re.Match[str]) -> str:
    charset, encoding, text = word[1].partition("*")[0], word[2].lower(), word[3]
    try:
        if encoding == "b":
            bare = "".join(text.split())
            content = b64decode(bare + "=" * (-len(bare) % 4), validate=True)
        else:
            content = decodestring(text.encode("latin-1"), header=True)
    except (binascii.Error, ValueError):
        return word[0]
    decoded = decode_as(content, charset)
    return word[0] if decoded is None else decoded
