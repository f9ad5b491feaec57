"""The texts that sources mark for translation, in templates, Python and JavaScript modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from django.utils.translation.template import templatize

from tests.testing.translations.javascript import Token, tokens_of

ROOMS = ("core", "extract", "accounts", "kb", "runs", "ingestion", "search", "assistants", "locus")
SINGULAR = {"gettext", "gettext_lazy", "gettext_noop", "_"}
PLURAL = {"ngettext", "ngettext_lazy"}
WITH_CONTEXT = {"pgettext", "pgettext_lazy"}
FOR_MODULES = {"shown_by_modules"}
ERRORS = ("core/errors.py", "extract/errors.py", "core/fetch/errors.py")
"""Their default messages are shown by pages, in the reader's language."""
MODULE_SINGULAR, MODULE_PLURAL = {"t", "tNodes"}, {"tPlural"}
ENGLISH_ONLY = (
    *("templates/500.html", "templates/503.html"),
    *("templates/admin/*", "templates/unfold/*", "templates/*/admin/*", "templates/*/admin_*.html"),
    *(
        "templates/locus/dashboard*.html",
        "templates/locus/reference*.html",
        "templates/search/evaluation.html",
    ),
    *("frontend/src/admin*.js", "frontend/src/reference.js"),
)
"""The admin panel, the API reference, a report of a benchmark, and the pages that are shown after a fault."""
_CALL = re.compile(r"""\b(gettext|ngettext|pgettext|npgettext|_)\(""")


@dataclass(frozen=True, slots=True)
class MarkedText:
    """An English text in a source: `place` is the path of the file."""

    text: str
    place: str
    plural: str | None = None
    context: str | None = None
    is_for_modules: bool = False


def marked_texts(root: Path) -> Iterator[MarkedText]:
    """Yield the marked texts of all sources, file by file."""
    for path in template_files(root):
        yield from texts_of_template(path.read_text("utf-8"), str(path.relative_to(root)))
    for path in python_files(root):
        yield from texts_of_python(path.read_text("utf-8"), str(path.relative_to(root)))
    for path in module_files(root):
        yield from texts_of_module(path.read_text("utf-8"), str(path.relative_to(root)))


def template_files(root: Path) -> list[Path]:
    """Return the templates of pages and mails that are translated."""
    found = (path for path in (root / "templates").rglob("*") if path.suffix in {".html", ".txt"})
    return sorted(path for path in found if not is_english_only(path.relative_to(root)))


def python_files(root: Path) -> list[Path]:
    """Return the modules of Python that may have texts for people."""
    found = (path for room in ROOMS for path in (root / room).rglob("*.py"))
    return sorted(path for path in found if "migrations" not in path.parts)


def module_files(root: Path) -> list[Path]:
    """Return our JavaScript modules."""
    found = (root / "frontend" / "src").rglob("*.js")
    return sorted(path for path in found if not is_english_only(path.relative_to(root)))


def is_english_only(path: Path) -> bool:
    """Return whether a file is of pages for operators or developers, which are English (ADR 51)."""
    return any(fnmatch(str(path), pattern) for pattern in ENGLISH_ONLY)


def texts_of_template(source: str, place: str) -> Iterator[MarkedText]:
    """Yield what `{% translate %}`, `{% blocktranslate %}` and `_("…")` mark."""
    # Django writes the marks as calls of gettext, for xgettext, and fills the rest.
    calls = templatize(source, origin=place)
    for found in _CALL.finditer(calls):
        words = _string_literals(calls, found.end())
        context = words.pop(0) if found[1] in {"pgettext", "npgettext"} else None
        plural = words[1] if found[1] in {"ngettext", "npgettext"} else None
        yield MarkedText(words[0], place, plural, context)


def _string_literals(source: str, position: int) -> list[str]:
    """Return the literals that stand one after the other, with commas between them."""
    literal = re.compile(r"""\s*,?\s*u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
    words = []
    while found := literal.match(source, position):
        words.append(str(ast.literal_eval(found[1])))
        position = found.end()
    return words


def texts_of_python(source: str, place: str) -> Iterator[MarkedText]:
    """Yield what calls of Django's functions, and of `shown_by_modules`, mark."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and place.endswith(ERRORS):
            yield from (MarkedText(text, place, is_for_modules=True) for text in _default_messages(node))
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        words = [each.value for each in node.args if isinstance(each, ast.Constant)]
        if not words or not isinstance(words[0], str):
            continue
        if name in SINGULAR | FOR_MODULES:
            yield MarkedText(words[0], place, is_for_modules=name in FOR_MODULES)
        elif name in PLURAL:
            yield MarkedText(words[0], place, str(words[1]))
        elif name in WITH_CONTEXT:
            yield MarkedText(str(words[1]), place, context=words[0])


def _default_messages(error: ast.ClassDef) -> Iterator[str]:
    """Yield the message that a class of errors has if nothing else is said."""
    for node in error.body:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            names, values = [target], [node.value]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                names, values = target.elts, node.value.elts
            for name, value in zip(names, values, strict=True):
                is_message = isinstance(name, ast.Name) and name.id == "default_message"
                if is_message and isinstance(value, ast.Constant) and value.value:
                    yield str(value.value)


def texts_of_module(source: str, place: str) -> Iterator[MarkedText]:
    """Yield what calls of `t`, `tNodes` and `tPlural` mark (frontend/src/texts.js)."""
    tokens = list(tokens_of(source))
    for index, token in enumerate(tokens):
        if token.kind == "text" and (name := called_with(tokens, index)):
            plural = tokens[index + 2].value if name in MODULE_PLURAL else None
            yield MarkedText(token.value, place, plural)


def called_with(tokens: list[Token], index: int) -> str:
    """Return the marking function whose first argument this text is, or nothing."""
    is_first = index >= 2 and tokens[index - 1].value == "(" and tokens[index - 1].kind == "sign"
    name = tokens[index - 2].value if is_first and tokens[index - 2].kind == "word" else ""
    return name if name in MODULE_SINGULAR | MODULE_PLURAL else ""
