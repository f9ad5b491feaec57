"""What stands in and beside a picture: labels, which belong to it, or text that it merely lies behind."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Longer than a label, and more than all labels of a picture: text on a background, or in a frame.
LONGEST_LABEL, MOST_LABELS = 120, 600
# “Figure 3”, “Abb. 2:”, “Chart: …”, in the languages that we tell apart most often.
CAPTION = re.compile(
    r"(?i:fig(ure|\.)?|chart|graph|exhibit|diagram|image|photo(graph)?|picture|plate|map|illustration|scheme"
    r"|abb(ildung|\.)?|bild|grafik|diagramm|schaubild|karte|figura|gráfic[oa]|imagen|ilustración"
    r"|graphique|schéma|carte|illustrazione|grafico|immagine|afbeelding|figuur|grafiek)"
    r"(\s*\d+([.–-]\d+)*[a-z]?\b|\s+([IVX]+|[A-Z])\b|\s*[:.–—-]\s)"
)


def are_labels(texts: Sequence[str]) -> bool:
    """Tell whether texts that stand in a picture are short and few enough to be its labels."""
    return max(map(len, texts), default=0) <= LONGEST_LABEL and sum(map(len, texts)) <= MOST_LABELS


def is_caption(text: str) -> bool:
    """Tell whether a paragraph begins as captions do."""
    return CAPTION.match(text) is not None
