"""Words for numbers, in seven languages, as part of a pattern: “trentuno”, “einundzwanzig”, “forty-two”.

Without articles (“one”, “un”, “eine”) and without what means something else in another language (“due”,
“once”, “sei”, “sept”).
"""

from __future__ import annotations

_ENGLISH = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    "|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|millions?|billions?|dozens?|half"
)
_GERMAN = (
    "zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|(?:drei|vier|fünf|sech|sieb|acht|neun)zehn"
    "|(?:\\w{3,10}und)?(?:zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig)"
    "|\\w{0,12}(?:hundert|tausend)|millionen|milliarden|dutzend|hälfte|drittel|viertel"
)
_FRENCH = (
    "deux|trois|quatre|cinq|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingts?|trente|quarante"
    "|cinquante|soixante|cents?|mille|millions?|milliards?|douzaine|moitié|tiers|quart"
)
_SPANISH = (
    "dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|trece|catorce|quince|dieci(?:séis|\\w{4,5})"
    "|veint[ei]\\w{0,6}|treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa|cien(?:to|t[ao]s)?"
    "|\\w{3,6}cient[ao]s|quinient[ao]s|mil(?:lones|lón)?|docena|mitad|tercio"
)
_ITALIAN = (
    "quattro|cinque|sette|otto|dieci|undici|dodici|tredici|quattordici|quindici|sedici|dicia\\w{5,6}|diciotto"
    "|(?:vent|trent|quarant|cinquant|sessant|settant|ottant|novant)(?:uno?|otto)"
    "|(?:venti|trenta|quaranta|cinquanta|sessanta|settanta|ottanta|novanta)(?:due|tré|quattro|cinque|sei|sette|nove)?"
    "|(?:due|tre|\\w{4,7})?cento\\w{0,12}|\\w{1,12}mila|mille"
    "|milion[ei]|miliard[oi]|metà|dozzina"
)
_PORTUGUESE = (
    "dois|duas|três|quatro|sete|oito|nove|dez|onze|doze|treze|catorze|quatorze|quinze|dezess?\\w{2,4}|dezoito"
    "|dezanove|dezenove|vinte|trinta|quarenta|cinquenta|sessenta|oitenta|cem|centos?|duzent[ao]s|trezent[ao]s"
    "|milh(?:ão|ões)|metade|dúzia"
)
_DUTCH = (
    "twee|drie|vijf|zes|zeven|negen|tien|twaalf|dertien|veertien|(?:vijf|zes|zeven|acht|negen)tien"
    "|(?:\\w{3,6}(?:en|ën))?(?:twintig|dertig|veertig|vijftig|zestig|zeventig|tachtig|negentig)"
    "|\\w{0,12}(?:honderd|duizend)|miljoen|miljard|helft|dozijn"
)
NUMBER_WORDS = "|".join((_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH))
"""Alternatives of a pattern that ignores case; whole words, so it takes `\\b` around it."""
