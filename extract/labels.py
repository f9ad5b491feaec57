"""Text in and next to a picture: its labels, or text that lies in front of the picture."""

from __future__ import annotations

import re
from collections.abc import Sequence

# A text longer than a label, and more text than all labels of a picture: then it is text on a background or
# in a frame.
LONGEST_LABEL, MOST_LABELS = 120, 600
# “Figure 3”, “Abb. 2:”, “Chart: …”, in the most frequent languages.
CAPTION = re.compile(
    r"(?i:fig(ure|\.)?|chart|graph|exhibit|diagram|image|photo(graph)?|picture|plate|map|illustration|scheme"
    r"|abb(ildung|\.)?|bild|grafik|diagramm|schaubild|karte|figura|gráfic[oa]|imagen|ilustración"
    r"|graphique|schéma|carte|illustrazione|grafico|immagine|afbeelding|figuur|grafiek)"
    r"(\s*\d+([.–-]\d+)*[a-z]?\b|\s+([IVX]+|[A-Z])\b|\s*[:.–—-]\s)"
)


def are_labels(texts: Sequence[str]) -> bool:
    """Return whether texts inside a picture are short and few enough to be its labels."""
    return max(map(len, texts), default=0) <= LONGEST_LABEL and sum(map(len, texts)) <= MOST_LABELS


def is_caption(text: str) -> bool:
    """Return whether a paragraph begins like a caption."""
    return CAPTION.match(text) is not None
