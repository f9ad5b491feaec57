"""Who has issued a receipt or an invoice: its head says so, in no sentence.

“Which shop issued this receipt?” ─▶ ABC HO TRADING <source_1>
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from search.contexts import Context
from search.generation.extractive.wording import cited, fold

LINES_OF_HEAD = 5
_ISSUER = re.compile(
    r"\b(?:who (?:issued|wrote|sold)|(?:which|what|name of the) (?:shop|store|company|merchant|vendor|seller"
    r"|supplier|restaurant|business|firm)|wer hat .{0,40}ausgestellt|welche[rs]? (?:laden|geschäft|firma"
    r"|händler|unternehmen)|quel(?:le)? (?:magasin|entreprise|société)|(?:de )?qué (?:tienda|empresa))\b",
    re.IGNORECASE,
)
_SLIP = re.compile(
    r"\b(?:receipt|invoice|bill|(?:kassen)?bon|kassenzettel|rechnung|quittung|beleg|facture|reçu|ticket"
    r"|factura|recibo)\b",
    re.IGNORECASE,
)
_FIRM = re.compile(
    r"\b(?:trading|enterprises?|ltd|limited|gmbh|inc|corp|llc|plc|co|company|sdn|bhd|s\.?a|s\.?l|sarl|ag|kg"
    r"|restaurant|cafe|café|store|shop|market|supermarket|mart|hotel|pharmacy|apotheke|bakery|bäckerei)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_]{3}")


def issuer(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the line that names the issuer, as Markdown; nothing if that is not asked, or of several papers.

    It is the first line of the head that has a word of firms, or else the first one with a name.
    """
    if not (_ISSUER.search(question) and _SLIP.search(question)) or not contexts:
        return []
    first = contexts[0]
    if any(each.document_name != first.document_name for each in contexts):
        return []
    head = [fold(line) for line in first.text.splitlines() if line.strip()][:LINES_OF_HEAD]
    names = [line for line in head if _NAME.search(line)]
    found = next(iter([*filter(_FIRM.search, names), *names]), None)
    return [f"{cited(found, first)}\n"] if found else []
