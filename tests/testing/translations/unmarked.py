"""Texts for people that nobody marked for translation, in templates, modules and Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser

from tests.testing.translations.extraction import MODULE_PLURAL, called_with
from tests.testing.translations.javascript import Token, tokens_of

LETTERS = re.compile(r"[^\W\d_]{2,}")
NAMES = {
    *("Locus", "Ollama", "LM", "Studio", "llama", "cpp", "vLLM", "Anthropic", "OpenAI", "PDF", "API"),
    *("Brave", "Tavily", "Perplexity", "DuckDuckGo", "SerpAPI", "SearXNG"),
    *("ms", "kB", "MB", "GB", "TB"),
    *("Ctrl", "Shift", "Esc", "Enter", "Alt", "JSON", "Markdown", "UTC", "http", "https", "nbsp", "middot"),
}
"""Words that are the same in every language."""
READ_ALOUD = {"aria-label", "title", "placeholder", "alt", "data-label", "aria-description"}
"""Attributes whose values people read or hear."""
BLOCKS = re.compile(
    r"{%-?\s*(blocktrans(?:late)?)\b.*?{%\s*end\1\s*%}|{%\s*comment\b.*?{%\s*endcomment\s*%}|{#.*?#}",
    re.DOTALL,
)
WITHOUT_TEXT = re.compile(r"{%\s*block (?:body_class|page_data)\b[^%]*%}.*?{%\s*endblock", re.DOTALL)
"""Blocks that fill an attribute."""
TAGS = re.compile(r"{%.*?%}|{{.*?}}", re.DOTALL)
WORDS_OF_TAGS = {
    "url",
    "load",
    "extends",
    "block",
    "slot",
    "element",
    "translate",
    "trans",
    "static",
    "csrf_token",
}
STRING = re.compile(r"""(_\(|[\w:|=]*)("[^"]*"|'[^']*')""")
LOOKS_WRITTEN = re.compile(r"^[A-Z][a-z’]+\b|[a-zé]{2,}[,:]? [a-zA-Zé(“{]|\} [a-zé]{2,}")


def unmarked_in_template(source: str, is_mail: bool) -> Iterator[str]:
    """Yield each text of a template that stands outside of marks."""
    source = WITHOUT_TEXT.sub("{% ", BLOCKS.sub(" ", source))
    for tag in TAGS.findall(source):
        yield from _strings_of_tag(tag)
    rest = TAGS.sub(" ", source)
    if is_mail:
        yield from (line.strip() for line in rest.splitlines() if has_words(line))
        return
    reader = _TextReader()
    reader.feed(rest)
    reader.close()
    yield from reader.found


def has_words(text: str) -> bool:
    """Return whether a text has words other than names."""
    return any(word not in NAMES for word in LETTERS.findall(text))


def _strings_of_tag(tag: str) -> Iterator[str]:
    words = tag[2:-2].split()
    if not words or words[0] in WORDS_OF_TAGS:
        return
    for before, quoted in STRING.findall(tag):
        if before != "_(" and not before.endswith("date:") and LOOKS_WRITTEN.search(quoted[1:-1]):
            yield quoted


class _TextReader(HTMLParser):
    """Collects the texts of elements and of attributes that are read aloud."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at attributes."""
        self._silent += tag in {"code", "kbd", "script", "style", "svg"}
        self.found += [value for name, value in attrs if name in READ_ALOUD and value and has_words(value)]

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        self._silent -= tag in {"code", "kbd", "script", "style", "svg"}

    def handle_data(self, data: str) -> None:
        """Look at a text."""
        self.found += [" ".join(data.split())] if not self._silent and has_words(data) else []


# What code writes with spaces or capitals that nobody reads.
"""Names of keys and headers, and lines of a shell."""
KEYS = re.compile(
    r"^(Arrow(Up|Down|Left|Right)|Page(Up|Down)|Home|End|Tab|Escape|Enter|Delete|Backspace|Shift|Control)$"
    r"|^(Accept|Content-Type|Authorization)$|^curl |^  -|^<"
)
NOT_READ = {
    "noopener noreferrer nofollow",
    "recording speed",
    "p, li, td, th, h1, h2, h3, h4, h5, h6, blockquote",
}
"""Values of attributes, keys of what a browser remembers, selectors."""
CODE_BEFORE = {
    *(
        "querySelector",
        "querySelectorAll",
        "closest",
        "matches",
        "createElement",
        "addEventListener",
        "import",
    ),
    *(
        "from",
        "add",
        "remove",
        "toggle",
        "contains",
        "setProperty",
        "getPropertyValue",
        "matchMedia",
        "getContext",
    ),
    *(
        "split",
        "join",
        "startsWith",
        "endsWith",
        "includes",
        "Error",
        "TypeError",
        "RangeError",
        "has",
        "get",
        "set",
    ),
}
CODE_PROPERTIES = {
    "class",
    "className",
    "rel",
    "type",
    "href",
    "transform",
    "d",
    "viewBox",
    "style",
    "accept",
    "key",
}


def unmarked_in_module(source: str) -> Iterator[str]:
    """Yield each literal of a module that looks written for people, outside of calls of `t` and its kin."""
    tokens = list(tokens_of(source))
    marked = set()
    for index, token in enumerate(tokens):
        if token.kind in {"text", "template"} and (name := called_with(tokens, index)):
            marked |= {index, index + 2} if name in MODULE_PLURAL else {index}
        if token.kind == "template" and called_with(tokens, index):
            yield f"a template in a mark: {token.value}"
        elif token.kind in {"text", "template"} and index not in marked and _looks_written(tokens, index):
            yield token.value


def _looks_written(tokens: list[Token], index: int) -> bool:
    value = tokens[index].value
    is_key = index + 1 < len(tokens) and tokens[index + 1].value == ":" and tokens[index - 1].value in "{,"
    if (
        is_key
        or value in NOT_READ
        or KEYS.match(value)
        or not LOOKS_WRITTEN.search(value)
        or not has_words(value)
    ):
        return False
    before = [token.value for token in tokens[max(0, index - 2) : index]]
    if len(before) == 2 and before[1] == "(" and before[0] in CODE_BEFORE:
        return False
    if len(before) == 2 and before[1] in {":", "="} and before[0] in CODE_PROPERTIES:
        return False
    return not _is_of_code(value)


def _is_of_code(value: str) -> bool:
    """Return whether a text is a list of classes or a selector: no capitals, and signs within words."""
    words = value.replace("{}", "").replace("e-mail", "").split()
    is_plain = all(re.fullmatch(r"[a-z0-9.#:()\[\]*=\"',>+~_-]+", word) for word in words)
    return is_plain and any(re.search(r"[a-z0-9]-[a-z]|^[.#>:\[]|\[", word) for word in words)


FUNCTIONS = {"success", "error", "info", "warning", "ValidationError"}
"""Whose texts Django shows on pages: of `messages`, and of forms."""
PROPERTIES = {"label", "help_text", "empty_label", "placeholder"}


def unmarked_in_python(source: str) -> Iterator[str]:
    """Yield texts of messages and forms outside of calls of gettext."""
    for node in ast.walk(ast.parse(source)):
        for value in _values_for_people(node):
            yield from (text for text in _plain_texts(value) if has_words(text))


def _values_for_people(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        owner = (
            node.func.value.id
            if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
            else ""
        )
        if owner == "messages" and name in FUNCTIONS:
            yield from node.args[1:2]
        if owner == "forms" and name == "ValidationError":
            yield from node.args[:1]
        if owner == "forms":
            yield from (each.value for each in node.keywords if each.arg in PROPERTIES | {"choices"})
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        if isinstance(target, ast.Attribute) and target.attr in PROPERTIES:
            yield node.value


def _plain_texts(node: ast.expr) -> Iterator[str]:
    """Yield the strings in an expression that are no arguments of a call."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    elif isinstance(node, ast.IfExp):
        yield from (text for each in (node.body, node.orelse) for text in _plain_texts(each))
    elif isinstance(node, ast.Tuple | ast.List):
        # Of a choice (value, words) only the words are read.
        pair = len(node.elts) == 2 and all(isinstance(each, ast.Constant) for each in node.elts)
        yield from (text for each in (node.elts[1:] if pair else node.elts) for text in _plain_texts(each))
