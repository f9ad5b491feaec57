"""Names of character sets that mails and web pages use, and Python knows by another name only.

Importing this module makes them known to all decoders of this process, those of e-mail headers among them.
"""

from __future__ import annotations

import codecs
import re

WINDOWS = re.compile(r"(?:x_)?(?:windows|win|ms|ibm|cp|cp_|x_cp)_?(\d{3,5})")
OTHERS = {
    "x_sjis": "shift_jis",
    "windows_31j": "cp932",
    "x_euc_jp": "euc_jp",
    "x_gbk": "gbk",
    "x_big5": "big5",
    "big5_eten": "big5",
    "x_mac_roman": "mac_roman",
    "macintosh": "mac_roman",
    "x_mac_cyrillic": "mac_cyrillic",
    "ks_c_5601": "cp949",
    "iso_8859_8_i": "iso8859_8",
    "iso_8859_8_e": "iso8859_8",
    "unicode": "utf_16",
    "ansi": "cp1252",
    "x_ansi": "cp1252",
    "dos_874": "cp874",
    "tis_620": "cp874",
}


def _find(name: str) -> codecs.CodecInfo | None:
    """Return the codec of a name that Python has looked for in vain."""
    folded = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    numbered = WINDOWS.fullmatch(folded)
    known = OTHERS.get(folded) or (f"cp{numbered[1]}" if numbered else None)
    if known is None or known == folded:
        return None
    try:
        return codecs.lookup(known)
    except LookupError:
        return None


codecs.register(_find)
