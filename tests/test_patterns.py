"""Every regular expression of ours takes linear time, on whatever text: one that does not stops the process.

Python's `re` holds the interpreter's lock while it looks, so that a quadratic pattern over the text of a
document stops everybody's requests, streams and health checks.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from kb.index import spelling
from search import own_reports
from search.generation.extractive import calculations, expected
from search.generation.extractive.fields import cues
from tests import pattern_times
from tests.testing.paths import ROOT

APPS = ("core", "extract", "accounts", "kb", "runs", "ingestion", "search", "assistants", "locus")
PROCESSES = 2
DEADLINE_SECS = 300
"""Twenty times what it takes; a pattern that can't be broken off fails the test by it."""


@dataclass(frozen=True)
class Tried:
    """A pattern with a name for people; without `methods` it is tried with all of them."""

    name: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]

    def as_json(self) -> list[Any]:
        """Return it as `tests.pattern_times` reads it."""
        source, is_bytes = self.pattern.pattern, isinstance(self.pattern.pattern, bytes)
        plain = source.decode("latin-1") if is_bytes else source
        return [self.name, plain, self.pattern.flags, is_bytes, self.methods]


BUILT: dict[str, Callable[[], re.Pattern[Any]]] = {
    "kb/index/spelling.py": lambda: spelling._sharing_pattern(spelling.trigrams("extraordinary"), 0.3),
    "search/explanation.py": lambda: re.compile("|".join(["東京", "京都", "都"])),
    "search/own_reports.py:name": lambda: own_reports.name_pattern("Northwind Traders"),
    "search/own_reports.py:firm": lambda: own_reports.firm_pattern("Northwind Traders"),
    "search/generation/extractive/calculations.py": lambda: calculations._cue("growth|per cent|%"),
    "search/generation/extractive/fields/cues.py": lambda: cues._cue("who sent|from whom", "from").words,
    "search/generation/extractive/expected.py": lambda: expected._cue("when|how many", at_start=True),
}
"""What functions build from words."""


def modules() -> Iterator[ModuleType]:
    """Yield all modules of the apps."""
    for app in APPS:
        package = importlib.import_module(app)
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{app}."):
            if not found.name.endswith(("__main__", ".asgi")) and ".migrations" not in found.name:
                yield importlib.import_module(found.name)


def patterns_in(value: object, depth: int = 4) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns that a value is or holds, in containers and as attributes of our classes."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        for each in (*value.keys(), *value.values()):
            yield from patterns_in(each, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from patterns_in(each, depth - 1)
    elif depth and isinstance(value, type) and value.__module__.split(".")[0] in APPS:
        for each in vars(value).values():
            yield from patterns_in(each, depth - 1)


def calls() -> Iterator[tuple[str, ast.Call, str]]:
    """Yield where functions of `re` are called, the call, and the function's name."""
    for file in sorted(file for app in APPS for file in (ROOT / app).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            if ast.unparse(node.func.value) in ("re", "regex"):
                yield f"{file.relative_to(ROOT)}:{node.lineno}", node, node.func.attr


def inline_patterns() -> Iterator[Tried]:
    """Yield the patterns that are written where they are used, as in `re.findall(PATTERN, text)`."""
    for place, call, function in calls():
        if function not in ("compile", "escape") and isinstance(call.args[0], ast.Constant):
            given = [ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == "flags"]
            names = [name for each in given for name in each.replace("re.", "").split(" | ")]
            flags = sum(getattr(re, name) for name in names)
            method = {"findall": "finditer", "subn": "sub"}.get(function, function)
            yield Tried(place, re.compile(call.args[0].value, flags), (method,))


def all_patterns() -> list[Tried]:
    """Return every pattern once, by its module and name or by its line."""
    found = {
        pattern: Tried(f"{module.__name__}.{name}", pattern, ())
        for module in modules()
        for name, value in vars(module).items()
        for pattern in patterns_in(value)
    }
    built = (Tried(name, make(), ()) for name, make in BUILT.items())
    return [*found.values(), *inline_patterns(), *built]


def test_every_pattern_is_linear_on_200_000_characters_of_its_worst_alphabet() -> None:
    """A run of digits, of `=` or of spaces in a document held a pattern, and so the process, for hours."""
    found = all_patterns()
    assert len(found) > 120
    children = [started(found[number::PROCESSES]) for number in range(PROCESSES)]
    told = "".join(map(reported, children))
    assert [line for line in told.splitlines() if line != "done"] == []


def test_no_other_pattern_is_built_where_text_is_read() -> None:
    """What a function builds is found by no walk: it stands in `BUILT`, with an example."""
    inside = {
        place.partition(":")[0]
        for place, call, function in calls()
        if function != "escape" and not isinstance(call.args[0], ast.Constant) and not is_at_import(place)
    }
    assert inside == {name.partition(":")[0] for name in BUILT}


def is_at_import(place: str) -> bool:
    """Tell whether a line of a file runs when its module is imported."""
    name, _, line = place.partition(":")
    tree = ast.parse((ROOT / name).read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return not any(node.lineno <= int(line) <= (node.end_lineno or 0) for node in functions)


def started(patterns: Sequence[Tried]) -> subprocess.Popen[str]:
    """Start a process that tries some patterns."""
    child = subprocess.Popen(
        [sys.executable, pattern_times.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdin
    child.stdin.write(json.dumps([each.as_json() for each in patterns]))
    child.stdin.close()
    child.stdin = None
    return child


def reported(child: subprocess.Popen[str]) -> str:
    """Return what a process tells; what it tried last if it can't finish."""
    try:
        said, log = child.communicate(timeout=DEADLINE_SECS)
    except subprocess.TimeoutExpired:
        child.kill()
        said, log = child.communicate()
    return said if said.endswith("done\n") else f"{said}ended: {log[-200:]}\n"
