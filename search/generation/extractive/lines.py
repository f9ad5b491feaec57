"""The lines of statements, by the names that reports give them and by the words that people ask with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from search.generation.extractive.periods import has_length


class StatementKind(StrEnum):
    """The statements that a line stands in."""

    INCOME = "statements of income"
    BALANCE = "balance sheets"
    CASH_FLOWS = "statements of cash flows"


@dataclass(frozen=True, slots=True)
class StatementLine:
    """A line of a statement by its names, as patterns of a whole name, the best one first."""

    kind: StatementKind
    names: tuple[str, ...]
    label: str
    """What to look for, in the words of most reports."""
    cue: str = ""
    """What people call it, as a pattern; empty if nobody asks for it alone."""
    below: str = ""
    """The line whose row counts as this one below a section of these names."""


_STATEMENTS = {
    StatementKind.INCOME: re.compile(
        r"statements? of (?:\w+ ){0,3}?(?:income|operations|earnings)|income statement"
    ),
    StatementKind.BALANCE: re.compile(r"balance sheet|statements? of financial position"),
    StatementKind.CASH_FLOWS: re.compile(r"statements? of cash ?flow|cash flow statement"),
}
_OF_A_PART = re.compile(r"\b(?:obligors?|issuers?|guarant\w+|parent company|consolidating|segments?)\b")
CHARS_ABOVE = 200
"""So much of a table may name its statement."""


def is_of_a_part(headings: Sequence[str]) -> bool:
    """Tell whether a table below these headings is of a part of the company, or of those who stand surety."""
    return _OF_A_PART.search(" ".join(headings).casefold()) is not None


def is_statement(kind: StatementKind, headings: Sequence[str], text: str) -> bool:
    """Tell whether headings or the first words of a table name the statement, that of the whole company."""
    above = " ".join([*headings, text[:CHARS_ABOVE]]).casefold()
    return _STATEMENTS[kind].search(above) is not None and not is_of_a_part(headings)


def holds_balances(headings: Sequence[str], header: str) -> bool:
    """Tell whether a table with this header may hold balances, and not what they have changed by.

    Statements of cash flows call such a change like the balance.
    """
    return not has_length(header) and not any("cash flow" in heading.casefold() for heading in headings)


def plain_name(name: str) -> str:
    """Return the name of a row without case, marks and what stands in parentheses."""
    return " ".join(re.findall(r"\w+", re.sub(r"\([^()]*\)", " ", name).casefold()))


_NET = r"(?: net)?"
LINES = {
    "revenue": StatementLine(
        StatementKind.INCOME,
        (
            r"total (?:net )?(?:revenues?|sales)(?: and other income)?",
            r"net (?:operating )?revenues?|net sales",
            r"revenues?(?: net)?|sales(?: net)?|turnover",
            r"(?:netto|gesamt)?umsatz(?:erlöse)?|nettoerlöse|chiffre d affaires(?: net)?|ventes(?: nettes)?"
            r"|ventas(?: netas)?|ingresos(?: totales)?",
        ),
        "total revenue, net sales",
        r"(?:total |net )?(?:revenues?|sales)|turnover|(?:gesamt|netto)?umsatz(?:erlöse)?"
        r"|nettoerlöse|chiffre d.affaires(?: net)?|ventes nettes|ventas(?: netas)?|ingresos(?: totales)?",
    ),
    "cost": StatementLine(
        StatementKind.INCOME,
        (
            r"total costs? of (?:goods sold|net sales|net revenues?|products sold|revenues?|sales)",
            r"costs? of (?:goods sold|net sales|net revenues?|products sold|revenues?|sales)",
            r"umsatzkosten|herstellungskosten|coût des ventes|costo de ventas",
        ),
        "cost of revenue, cost of sales",
        r"costs? of (?:goods sold|revenues?|sales)|cogs|umsatzkosten|herstellungskosten|coût des ventes"
        r"|cost[oe] de (?:las )?ventas",
    ),
    "gross_profit": StatementLine(
        StatementKind.INCOME,
        (r"(?:total )?gross (?:profit|margin)", r"bruttoergebnis|marge brute|beneficio bruto"),
        "gross profit",
        r"gross profits?|bruttoergebnis|bruttogewinn|rohertrag|bénéfice brut|beneficio bruto|utilidad bruta",
    ),
    "administration": StatementLine(
        StatementKind.INCOME,
        (
            r"(?:selling|sales|marketing) (?:and )?(?:marketing )?general (?:and )?administrative"
            r"(?: expenses?)?",
            r"general (?:and )?administrative(?: expenses?)?",
        ),
        "selling, general and administrative expenses",
        r"selling,? general,? and administrative(?: expenses?)?|sg ?& ?a(?: expenses?)?",
    ),
    "operating_income": StatementLine(
        StatementKind.INCOME,
        (
            r"(?:total )?operating (?:income|profit|earnings)(?: loss)?"
            r"|(?:total )?(?:income|earnings) from operations(?: loss)?",
            r"operating loss|loss from operations|(?:income|profit) loss from operations",
            r"betriebsergebnis|operatives ergebnis|résultat (?:opérationnel|d exploitation)"
            r"|resultado (?:operativo|de explotación)",
        ),
        "operating income",
        r"operating (?:income|profit)|income from operations|betriebsergebnis|betriebsgewinn"
        r"|operative[srn]? (?:ergebnis|gewinn)|(?:résultat|bénéfice) (?:opérationnel|d.exploitation)"
        r"|(?:resultado|beneficio) (?:operativo|de explotación)",
    ),
    "net_income": StatementLine(
        StatementKind.INCOME,
        (
            r"net (?:income|earnings|profit)(?: loss)?",
            r"net (?:income|earnings|profit)(?: loss)? (?:attributable|available) to .{1,60}"
            r"|consolidated net income|profit for the (?:year|period)|net loss",
            r"jahresüberschuss|konzernergebnis|résultat net|bénéfice net|resultado neto|beneficio neto",
        ),
        "net income",
        r"net (?:income|earnings|profit)|nettogewinn|nettoergebnis|jahresüberschuss"
        r"|reingewinn|konzernergebnis|résultat net|bénéfice net|(?:resultado|beneficio) neto"
        r"|(?:ganancia|utilidad) neta",
    ),
    "attributable_income": StatementLine(
        StatementKind.INCOME,
        (
            r"net (?:income|earnings|profit)(?: loss)? (?:attributable|available) to"
            r" (?!non ?controlling).{1,60}",
            r"net (?:income|earnings|profit)(?: loss)?",
        ),
        "net income attributable to shareholders",
        r"net (?:income|earnings|profit)(?: loss)? attributable to (?:its |the )?(?:common )?"
        r"(?:(?:share|stock)holders|company|parent|equity holders)",
    ),
    "diluted_earnings_per_share": StatementLine(
        StatementKind.INCOME,
        (
            r"(?:diluted )?(?:net )?(?:earnings|income)(?: loss)? per (?:common )?share(?: of common stock)?"
            r"(?: assuming dilution| diluted)",
            r"diluted (?:net )?(?:earnings|income)(?: loss)? per (?:common )?share.{0,60}|diluted eps",
        ),
        "diluted net income per share, diluted earnings per share",
        r"diluted (?:eps|(?:net )?(?:earnings|income) per (?:common )?share)"
        r"|verwässerte[srn]? (?:gewinn|ergebnis) (?:je|pro) aktie|(?:bénéfice|résultat) dilué par action"
        r"|beneficio diluido por acción",
        below="attributable_income",
    ),
    "pretax": StatementLine(
        StatementKind.INCOME,
        (
            r"(?:income|earnings|profit)(?: loss)? (?:from continuing operations )?before (?:provision for )?"
            r"(?:income )?tax(?:es)?(?: expense)?.{0,60}",
        ),
        "income before income taxes",
        r"(?:income|profit|earnings) before (?:income )?tax(?:es)?|vorsteuergewinn",
    ),
    "tax": StatementLine(
        StatementKind.INCOME,
        (
            r"(?:provision for|provision benefit for)? ?(?:income )?tax(?:es)?(?: expense)?(?: benefit)?"
            r"(?: on income)?",
            r"provision for income taxes|income tax provision",
        ),
        "income tax expense",
        r"income tax expense|provision for income taxes|ertrags?steuern|ertragsteueraufwand"
        r"|impôts? sur (?:les )?(?:bénéfices|sociétés|le résultat)"
        r"|impuestos? sobre (?:la renta|beneficios|sociedades)",
    ),
    "interest": StatementLine(
        StatementKind.INCOME,
        (r"interest expense" + _NET,),
        "interest expense",
        r"interest expenses?|zinsaufwand|gastos? por intereses|charges? d.intérêts?",
    ),
    "depreciation": StatementLine(
        StatementKind.CASH_FLOWS,
        (
            r"depreciation(?: depletion)?(?: and)? amortization(?: and (?:accretion|impairment|other))?"
            r"(?: expense)?",
            r"depreciation amortization and accretion",
        ),
        "depreciation and amortization",
        r"depreciation (?:and|&) amortization|d ?& ?a",
    ),
    "operating_cash": StatementLine(
        StatementKind.CASH_FLOWS,
        (
            r"(?:total )?net cash (?:flows? )?(?:provided by|from|provided by used in|generated by)"
            r"(?: used in)? operating activities",
            r"(?:total )?cash (?:flows? )?(?:provided by|from) (?:operating activities|operations)",
        ),
        "net cash provided by operating activities",
        r"(?:net )?(?:cash (?:flow )?(?:provided by|from) operati(?:ng activities|ons)|operating cash ?flow)"
        r"|operative[srn]? cash-?flow|cash-?flow aus (?:der )?(?:laufenden )?geschäftstätigkeit"
        r"|flux de trésorerie (?:opérationnels?|d.exploitation)|flujo de (?:caja|efectivo) operativo",
    ),
    "stock_compensation": StatementLine(
        StatementKind.CASH_FLOWS,
        (r"(?:stock|share) based compensation(?: expenses?)?",),
        "stock-based compensation",
        r"(?:stock|share)[- ]based compensation(?: expenses?)?",
    ),
    "dividends": StatementLine(
        StatementKind.CASH_FLOWS,
        (
            r"(?:cash )?dividends? paid.{0,40}|payments? of (?:cash )?dividends?.{0,40}",
            r"dividends?(?: to shareholders)?",
        ),
        "dividends paid",
        r"(?:total )?(?:cash )?dividends paid|(?<=pay in )dividends|(?<=paid in )dividends",
    ),
    "repurchases": StatementLine(
        StatementKind.CASH_FLOWS,
        (
            r"(?:re)?purchases? of common (?:stock|shares)|(?:share|stock) (?:buybacks?|repurchases?).{0,40}",
            r"payments? (?:related to|for) repurchases? of .{1,40}",
            r"(?:re)?purchases? of treasury (?:stock|shares)",
        ),
        "repurchases of common stock",
        r"(?:share|stock) (?:repurchases|buybacks)",
    ),
    "capital_expenditure": StatementLine(
        StatementKind.CASH_FLOWS,
        (
            r"capital expenditures?",
            r"(?:purchases?|additions?|acquisitions?) (?:of|to) property(?: plant)?(?: and)? equip.{0,60}",
            r"payments? for (?:the )?(?:purchase|acquisition) of property.{0,60}",
        ),
        "capital expenditures, purchases of property and equipment",
        r"capital expenditures?|capex|investitionsausgaben|dépenses d.investissement|gastos de capital",
    ),
    "research": StatementLine(
        StatementKind.INCOME,
        (r"research(?: and)? development(?: expenses?)?",),
        "research and development",
        r"research (?:and|&) development(?: expenses?)?|r ?& ?d(?: expenses?)?|forschung und entwicklung"
        r"|recherche et développement|investigación y desarrollo",
    ),
    "operating_expenses": StatementLine(
        StatementKind.INCOME,
        (r"total operating expenses", r"operating expenses"),
        "total operating expenses",
        r"(?:total )?operating expenses|betriebsaufwand|betriebsausgaben|charges d.exploitation"
        r"|gastos operativos",
    ),
    "cash": StatementLine(
        StatementKind.BALANCE,
        (r"(?:total )?cash(?: and)? cash equivalents",),
        "cash and cash equivalents",
        r"cash (?:and|&) cash equivalents|how much cash(?! flow)|cash (?:balance|position)|zahlungsmittel"
        r"|(?:liquide|flüssige)[nr]? mittel|trésorerie(?: et équivalents(?: de trésorerie)?)?"
        r"|efectivo y equivalentes",
    ),
    "short_investments": StatementLine(
        StatementKind.BALANCE,
        (r"(?:total )?short term investments", r"(?:current )?marketable securities(?: current)?"),
        "short-term investments, marketable securities",
        r"short[- ]term investments|marketable securities",
    ),
    "equipment": StatementLine(
        StatementKind.BALANCE,
        (r"(?:total )?property(?: plant)?(?: and)? equipment(?: net| less .{0,60})?", r"sachanlagen"),
        "property, plant and equipment",
        r"(?:net )?(?:ppn?e|pp ?& ?e|property,? plant,? (?:and|&) equipment|property and equipment)"
        r"|sachanlagen",
    ),
    "goodwill": StatementLine(StatementKind.BALANCE, (r"goodwill(?: net)?",), "goodwill", r"goodwill"),
    "current_assets": StatementLine(
        StatementKind.BALANCE,
        (r"total current assets",),
        "total current assets",
        r"(?:total )?current assets|umlaufvermögen|actifs? courants?|activos? corrientes?",
    ),
    "current_liabilities": StatementLine(
        StatementKind.BALANCE,
        (r"total current liabilities",),
        "total current liabilities",
        r"(?:total )?current liabilities|kurzfristige[rn]? verbindlichkeiten|passifs? courants?"
        r"|pasivos? corrientes?",
    ),
    "inventories": StatementLine(
        StatementKind.BALANCE,
        (r"(?:total |merchandise )?inventor(?:y|ies)" + _NET,),
        "inventories",
        r"(?:merchandise )?inventor(?:y|ies)|(?:waren)?vorräten?|warenbestände?|inventarios?"
        r"|existencias|stocks",
    ),
    "receivables": StatementLine(
        StatementKind.BALANCE,
        (r"(?:trade |total )?(?:accounts )?receivables?(?: trade)?(?: net)?(?: (?:less|net of) .{0,90})?",),
        "accounts receivable",
        r"(?:(?:accounts|trade) )?receivables?|forderungen|créances clients?|cuentas por cobrar",
    ),
    "payables": StatementLine(
        StatementKind.BALANCE,
        (r"(?:trade )?(?:accounts )?payables?(?: trade)?",),
        "accounts payable",
        r"(?:accounts|trade) payables?|verbindlichkeiten aus lieferungen|dettes fournisseurs"
        r"|cuentas por pagar",
    ),
    "assets": StatementLine(
        StatementKind.BALANCE,
        (r"total assets|bilanzsumme",),
        "total assets",
        r"total assets|bilanzsumme|gesamtvermögen|total (?:de l.|des )actifs?"
        r"|activos? totale?s?|total del? activos?",
    ),
    "liabilities": StatementLine(
        StatementKind.BALANCE,
        (r"total liabilities",),
        "total liabilities",
        r"total liabilities|gesamtverbindlichkeiten|total du passif|pasivos? totale?s?",
    ),
    "equity": StatementLine(
        StatementKind.BALANCE,
        (
            r"total (?:stockholders|shareholders|shareowners)(?: s)? equity(?: deficit)?|total equity",
            r"total (?:[\w ]{1,40} )?(?:stockholders|shareholders|shareowners)(?: s)? equity(?: deficit)?",
        ),
        "total stockholders' equity",
        r"(?:total )?(?:stockholders|shareholders)['’] equity|total equity|eigenkapital"
        r"|patrimonio neto|capitaux propres",
    ),
    "deferred_revenue": StatementLine(
        StatementKind.BALANCE,
        (r"(?:total )?(?:deferred|unearned) revenues?(?: net)?",),
        "deferred revenue",
        r"(?:deferred|unearned) revenues?",
    ),
    "debt": StatementLine(StatementKind.BALANCE, (r"total debt",), "total debt"),
    "short_debt": StatementLine(
        StatementKind.BALANCE,
        (
            r"short term (?:debt|borrowings).{0,90}",
            r"current (?:portion|maturities) of (?:long term )?debt|debt current|current debt",
        ),
        "short-term debt, current portion of long-term debt",
        r"short[- ]term (?:debt|borrowings)",
    ),
    "long_debt": StatementLine(
        StatementKind.BALANCE,
        (r"long term debt(?: less current portion| net.{0,40}| excluding .{0,60})?|debt(?: noncurrent)?",),
        "long-term debt",
        r"long[- ]term debt|langfristige[rn]? (?:finanz)?schulden|dette à long terme"
        r"|deuda a largo plazo",
    ),
}

NAMES = {key: tuple(map(re.compile, line.names)) for key, line in LINES.items()}
"""The patterns of each line, which match all of a `plain_name`."""
_CUES = {
    key: re.compile(rf"(?<!\w)(?:{line.cue})(?!\w)", re.IGNORECASE) for key, line in LINES.items() if line.cue
}


UNSIGNED = (
    "cost",
    "interest",
    "capital_expenditure",
    "administration",
    "research",
    "operating_expenses",
    "dividends",
)
"""Lines that reports write with or without a sign, and that are computed with without."""


def is_unsigned(name: str) -> bool:
    """Tell whether a row is called like a line that is taken without its sign."""
    plain = plain_name(name)
    return any(each.fullmatch(plain) for key in UNSIGNED for each in NAMES[key])


def name_of(key: str, name: str, section: str) -> int | None:
    """Return which of the names of a line a row has, from 0 for the best; None if it has none.

    Some rows are called so with their section alone: “Net income” below “Earnings per share, diluted”, “Debt”
    below “Current liabilities”.
    """
    plain, below = plain_name(name), LINES[key].below
    if below and any(each.fullmatch(plain) for each in NAMES[below]):
        plain = plain_name(section)
    elif plain == "debt" and plain_name(section).startswith("current"):
        plain = "debt current"
    return next((at for at, each in enumerate(NAMES[key]) if each.fullmatch(plain)), None)


def is_balance(name: str) -> bool:
    """Tell whether a row is called like a line of a balance sheet."""
    plain = plain_name(name)
    of_balance = (NAMES[key] for key, line in LINES.items() if line.kind is StatementKind.BALANCE)
    return any(each.fullmatch(plain) for names in of_balance for each in names)


def lines_named(question: str) -> list[tuple[str, re.Match[str]]]:
    """Return the keys of the lines that a question names, and where, in its order.

    The longest of nested names counts: “cost of revenue” names no revenue.
    """
    found = [(key, match) for key, cue in _CUES.items() for match in cue.finditer(question)]
    found.sort(key=lambda each: len(each[1][0]), reverse=True)
    named: list[tuple[str, re.Match[str]]] = []
    for key, match in found:
        if all(match.end() <= other.start() or other.end() <= match.start() for _, other in named):
            named.append((key, match))
    return sorted(named, key=lambda each: each[1].start())
