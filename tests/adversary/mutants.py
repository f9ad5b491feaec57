"""Every check of a scope with a switch that takes it out, in the modules of one process.

`install` compiles the modules that have checks from changed syntax trees; no file changes. A check stays as
it is until `SWITCH.removed` names it, and `SWITCH.reached` collects the names of those that were asked for.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("accounts", "kb", "runs", "ingestion", "search", "assistants", "locus")
RULES = "accounts/scope.py"
RULES_OF_MODELS = {"scope", "scope_by_id"}
"""Every condition of the rules themselves is a check: there, and in these methods of models."""
FILTERS = {"restricted_to", "addressable_by"}
"""Methods of the manager that narrow a query to a principal."""
CHECKS = {
    "require_workspace",
    "require_scope",
    "require_right",
    "refuse_external_user",
    "refuse_token",
    "refuse_narrowed",
    "refuse_unless_admin_key",
}
"""Methods of principals, and functions, that raise an error for those that must not go on."""
REFUSALS = {"Forbidden"}
"""Errors whose `raise` is a check; `NotFound` is one if it names the parameter with the id."""
NARROWED = {"open_view": {"workspaces", "documents"}}
"""Arguments that narrow a search."""
_SWITCH = "__is_removed__"


class Switch:
    """Which check is taken out, and which were reached."""

    def __init__(self) -> None:
        self.removed: str | None = None
        self.reached: set[str] = set()

    def is_removed(self, site: str) -> bool:
        """Note that a check is reached, and tell whether it is the one to do without."""
        self.reached.add(site)
        return site == self.removed


SWITCH = Switch()


def install() -> None:
    """Put switches into all modules that this process imports from now on."""
    setattr(builtins, _SWITCH, SWITCH.is_removed)
    sys.meta_path.insert(0, _Finder())


@cache
def sites() -> dict[str, int]:
    """Return the name of every check, and its line.

    A name is the path, the function, and what is called there, so that it outlives other changes of the file.
    """
    return {name: line for path in _modules() for name, line in switched(path)[1].items()}


def not_switched() -> set[str]:
    """Return the modules with checks that were imported before `install`."""
    loaded = {getattr(module, "__file__", None): module for module in list(sys.modules.values())}
    with_checks = {site.partition(":")[0] for site in sites()}
    modules = {path: loaded.get(str(ROOT / path)) for path in with_checks}
    return {path for path, each in modules.items() if each and not isinstance(each.__loader__, _Loader)}


def _modules() -> Iterator[Path]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


@cache
def switched(path: Path) -> tuple[ast.Module, dict[str, int]]:
    """Return a module's syntax tree with switches, and its checks."""
    return with_switches(path.read_text(), str(path.relative_to(ROOT)))


def with_switches(source: str, name: str) -> tuple[ast.Module, dict[str, int]]:
    """Return a syntax tree with switches, and the checks with their lines."""
    tree = ast.parse(source)
    switches = _Switches(name)
    switches.visit(tree)
    return ast.fix_missing_locations(tree), switches.sites


class _Switches(ast.NodeTransformer):
    def __init__(self, path: str) -> None:
        self.path, self.sites = path, dict[str, int]()
        self._inside: list[str] = []
        self._counts = Counter[str]()

    def _visit_inside(self, node: Any) -> ast.AST:
        self._inside.append(node.name)
        self.generic_visit(node)
        self._inside.pop()
        return node  # type: ignore[no-any-return]

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _visit_inside  # noqa: N815

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = _called(node)
        for keyword in node.keywords:
            if keyword.arg in NARROWED.get(name, ()):
                keyword.value = self._either(ast.Constant(None), keyword.value, f"{name}.{keyword.arg}")
        if name in CHECKS:
            return self._either(ast.Constant(None), node, name)
        if name in FILTERS and isinstance(node.func, ast.Attribute):
            # `Model.objects.restricted_to(principal)`, or `Model.unscoped.all()`.
            model = node.func.value
            assert isinstance(model, ast.Attribute)
            unscoped = ast.Attribute(model.value, "unscoped", ast.Load())
            return self._either(_call(ast.Attribute(unscoped, "all", ast.Load())), node, name)
        if name == "Q" and (self.path == RULES or not RULES_OF_MODELS.isdisjoint(self._inside)):
            return self._either(ast.parse("Q(pk__isnull=False)", mode="eval").body, node, name)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.exc, ast.Call):
            return node
        name = _called(node.exc)
        names_parameter = any(keyword.arg == "param" for keyword in node.exc.keywords)
        if name not in REFUSALS and not (name == "NotFound" and names_parameter):
            return node
        is_kept = ast.UnaryOp(ast.Not(), self._is_removed(node, name))
        return ast.copy_location(ast.If(is_kept, [node], []), node)

    def _either(self, removed: ast.expr, kept: ast.expr, what: str) -> ast.expr:
        return ast.copy_location(ast.IfExp(self._is_removed(kept, what), removed, kept), kept)

    def _is_removed(self, node: ast.AST, what: str) -> ast.expr:
        name = f"{self.path}:{'.'.join(self._inside)}:{what}"
        self._counts[name] += 1
        if (number := self._counts[name]) > 1:
            name = f"{name}:{number}"
        self.sites[name] = getattr(node, "lineno", 0)
        return _call(ast.Name(_SWITCH, ast.Load()), ast.Constant(name))


def _called(node: ast.Call) -> str:
    """Return the last part of the name of what is called."""
    return str(getattr(node.func, "attr", "") or getattr(node.func, "id", ""))


def _call(function: ast.expr, *arguments: ast.expr) -> ast.Call:
    return ast.Call(function, list(arguments), [])


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        # Never from a cache of compiled modules.
        path = self.get_filename(fullname)
        return compile(switched(Path(path))[0], path, "exec")


class _Finder:
    """Finds the modules that have checks."""

    @staticmethod
    def find_spec(fullname: str, path: Sequence[str] | None, target: object = None) -> Any:
        if fullname.partition(".")[0] not in ROOMS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        is_source = spec and spec.origin and spec.origin.endswith(".py") and ".migrations" not in fullname
        if spec and spec.origin and is_source and switched(Path(spec.origin))[1]:
            spec.loader = _Loader(fullname, spec.origin)
        return spec
