"""What asks for the most and for the least, in seven languages: patterns, and the columns that tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_THAN = {"es": r"(?! que\b)", "it": r"(?! (?:di|del|dell\w{0,2}|che)\b)", "pt": r"(?! (?:do )?que\b)"}
"""What stands behind a comparative, which these languages say as they say a superlative."""


@dataclass(frozen=True, slots=True)
class Adjective:
    """`words` has the patterns of the most and of the least by language; an empty one matches nothing.

    `columns` names what an adjective such as “tallest” measures, in the words of columns.
    """

    words: Mapping[str, tuple[str, str]]
    columns: str = ""
    is_of_time: bool = False
    is_of_money: bool = False

    @property
    def most(self) -> str:
        """The pattern of what asks for the most."""
        return self._pattern(0)

    @property
    def least(self) -> str:
        """The pattern of what asks for the least."""
        return self._pattern(1)

    def _pattern(self, end: int) -> str:
        found = [
            f"(?:{pair[end]}){_THAN.get(language, '')}" for language, pair in self.words.items() if pair[end]
        ]
        return "|".join(found) or "(?!)"


LONG = Adjective(
    {
        "en": ("longest", "shortest"),
        "de": ("längste[nrsm]?", "kürzeste[nrsm]?"),
        "fr": ("l[ea]s? plus longu?e?s?", "l[ea]s? plus courte?s?"),
        "es": ("más larg[oa]s?", "más cort[oa]s?"),
        "nl": ("langste", "kortste"),
        "it": ("più lung(?:[oa]|h[ie])", "più (?:brev[ei]|cort[oaie])"),
        "pt": ("mais (?:long|comprid)[oa]s?", "mais curt[oa]s?"),
    },
    "length duration länge dauer longueur durée longitud duración lengte duur lunghezza durata comprimento"
    " duração",
)
TALL = Adjective({"en": ("tallest", "")}, "height")
DEEP = Adjective(
    {
        "en": ("deepest", "shallowest"),
        "de": ("tiefste[nrsm]?", "flachste[nrsm]?"),
        "nl": ("diepste", "ondiepste"),
    },
    "depth tiefe diepte",
)
HEAVY = Adjective(
    {
        "en": ("heaviest", "lightest"),
        "de": ("schwerste[nrsm]?", "leichteste[nrsm]?"),
        "fr": ("l[ea]s? plus lourde?s?", "l[ea]s? plus lég(?:er|ère)s?"),
        "es": ("más pesad[oa]s?", "más liger[oa]s?"),
        "nl": ("zwaarste", "lichtste"),
        "it": ("più pesant[ei]", "più legger[oaie]"),
        "pt": ("mais pesad[oa]s?", "mais leves?"),
    },
    "weight mass gewicht masse poids peso masa massa",
)
EXPENSIVE = Adjective(
    {
        "en": ("most expensive", "cheapest|least expensive"),
        "de": ("teuerste[nrsm]?", "billigste[nrsm]?|günstigste[nrsm]?"),
        "fr": (
            "l[ea]s? plus ch(?:er|ère)s?|coûte(?:nt)? le plus",
            "l[ea]s? moins ch(?:er|ère)s?|coûte(?:nt)? le moins",
        ),
        "es": ("más car[oa]s?|más cuestan?|cuestan? más", "más barat[oa]s?|menos cuestan?|cuestan? menos"),
        "nl": ("duurste", "goedkoopste"),
        "it": (
            "più (?:car|costos)[oaie]|costa(?:no)? di più",
            "più economic(?:[oai]|he)|meno (?:car|costos)[oaie]|costa(?:no)? (?:di )?meno",
        ),
        "pt": ("mais car[oa]s?", "mais barat[oa]s?"),
    },
    "price cost charge fee rate tariff preis kosten gebühr tarif prix coût precio coste tarifa prijs prezzo"
    " costo quota preço custo taxa",
    is_of_money=True,
)
HOT = Adjective(
    {
        "en": ("hottest|warmest", "coldest"),
        "de": ("wärmste[nrsm]?|heißeste[nrsm]?", "kälteste[nrsm]?"),
        "nl": ("warmste|heetste", "koudste"),
        "it": ("più cald[oaie]", "più fredd[oaie]"),
        "pt": ("mais quentes?", "mais fri[oa]s?"),
    },
    "temperature temperatur temperatuur temperatura",
)
NEW = Adjective(
    {
        "en": ("newest|latest|most recent(?:ly)?", "oldest|earliest"),
        "de": ("neueste[nrsm]?|jüngste[nrsm]?", "älteste[nrsm]?|früheste[nrsm]?"),
        "fr": ("l[ea]s? plus récente?s?", "l[ea]s? plus ancien(?:ne)?s?"),
        "es": ("más recientes?", "más antigu[oa]s?"),
        "nl": ("nieuwste|meest recente", "oudste|vroegste"),
        "it": ("più recent[ei]", "più (?:vecchi[oae]?|antic(?:[oa]|h[ie]))"),
        "pt": ("mais recentes?", "mais antig[oa]s?"),
    },
    is_of_time=True,
)
FAST = Adjective(
    {
        "en": ("fastest", "slowest"),
        "de": ("schnellste[nrsm]?", "langsamste[nrsm]?"),
        "fr": ("l[ea]s? plus rapides?", "l[ea]s? plus lente?s?"),
        "es": ("más rápid[oa]s?", "más lent[oa]s?"),
        "nl": ("snelste", "langzaamste"),
        "it": ("più veloc[ei]", "più lent[oaie]"),
        "pt": ("mais rápid[oa]s?", "mais lent[oa]s?"),
    },
    "speed velocity geschwindigkeit tempo vitesse velocidad snelheid velocità velocidade",
)
MUCH = Adjective(
    {
        "en": (
            "(?<!at )most|highest|largest|biggest|greatest|maximum|strongest|steepest|sharpest"
            "|perform(?:s|ed|ing)? (?:the )?best|best[- ]performing",
            "(?<!at )least|fewest|lowest|smallest|minimum|weakest"
            "|perform(?:s|ed|ing)? (?:the )?worst|worst[- ]performing",
        ),
        "de": (
            "meisten?|höchste[nrsm]?|größte[nrsm]?|stärkste[nrsm]?|maximale[nrsm]?",
            "wenigsten?|niedrigste[nrsm]?|kleinste[nrsm]?|geringste[nrsm]?|schwächste[nrsm]?|minimale[nrsm]?",
        ),
        "fr": (
            "l[ea]s? plus(?: (?:grande?s?|élevée?s?|haute?s?|importante?s?)|(?= d[e'’]))",
            "l[ea]s? moins(?= d[e'’])|l[ea]s? plus (?:petite?s?|faibles?|basse?s?)",
        ),
        "es": (
            "tienen? más|mayor(?:es)?|más (?:alt|grand|elevad)[oae]s?",
            "tienen? menos|menor(?:es)?|más (?:baj|pequeñ)[oa]s?",
        ),
        "nl": ("meeste|hoogste|grootste|sterkste", "minste|laagste|zwakste"),
        "it": (
            "(?:ha|hanno|ha avuto) più|maggior[ei]?|più (?:alt|elevat)[oaie]|più grand[ei]",
            "(?:ha|hanno|ha avuto) meno|minor[ei]|minor(?= numero)|più (?:bass|piccol)[oaie]",
        ),
        "pt": (
            "(?:tem|têm|teve) mais|maior(?:es)?|mais (?:alt|elevad)[oa]s?",
            "(?:tem|têm|teve) menos|mais (?:baix|pequen)[oa]s?",
        ),
    }
)
GOOD = Adjective(
    {
        "en": ("best(?! of all)", "worst"),
        "de": ("beste[nrsm]?", "schlechteste[nrsm]?"),
        "fr": ("l[ea]s? meilleure?s?", "l[ea]s? pires?"),
        "es": ("mejor(?:es)?", "peor(?:es)?"),
        "nl": ("", "slechtste"),
        "it": ("miglior[ei]?", "peggior[ei]?"),
        "pt": ("melhor(?:es)?", "pior(?:es)?"),
    }
)
LATE = Adjective(
    {
        "en": ("last", "first"),
        "de": ("zuletzt|letzte[nrsm]?", "zuerst|erste[nrsm]?"),
        "fr": ("derni(?:er|ère)s?", "premi(?:er|ère)s?"),
        "es": ("últim[oa]s?", "primer[oa]?s?"),
        "nl": ("laatste", "eerste"),
        # “Prime” and “prima” are words of other languages, too.
        "it": (
            "l['’]ultim[oa]|gli ultimi|le ultime|per ultim[oa]",
            "(?:il|per) primo|la prima|i primi|le prime|per prima",
        ),
        "pt": ("", "primeir[oa]s?"),
    },
    is_of_time=True,
)
ADJECTIVES = (LONG, TALL, DEEP, HEAVY, EXPENSIVE, HOT, NEW, FAST, MUCH, GOOD, LATE)
"""In the order in which they are looked for: “least expensive” asks for the least price,
and “best performing” for the most growth."""
