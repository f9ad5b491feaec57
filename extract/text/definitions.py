"""The definitions of a program (functions, classes, what they hold), each with its lines, by tree-sitter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from tree_sitter import Language, Node, Parser

# The package of each language's grammar, and the function in it.
GRAMMARS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "c_sharp": ("tree_sitter_c_sharp", "language"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "kotlin": ("tree_sitter_kotlin", "language"),
    "scala": ("tree_sitter_scala", "language"),
    "bash": ("tree_sitter_bash", "language"),
}
SUFFIXES = {
    **dict.fromkeys((".py", ".pyi"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".h", ".cc", ".cpp", ".hpp"), "cpp"),
    **dict.fromkeys((".sh", ".bash"), "bash"),
    ".ts": "typescript",
    ".tsx": "tsx",
    ".java": "java",
    ".c": "c",
    ".cs": "c_sharp",
    ".go": "go",
    ".rs": "rust",
    ".rb": "ruby",
    ".php": "php",
    ".kt": "kotlin",
    ".scala": "scala",
}
# Types of nodes in any of the grammars.
DEFINITIONS = frozenset(
    """
    function_definition class_definition function_declaration generator_function_declaration
    class_declaration abstract_class_declaration method_definition interface_declaration enum_declaration
    internal_module module record_declaration method_declaration constructor_declaration
    annotation_type_declaration class_specifier struct_specifier namespace_definition namespace_declaration
    struct_declaration type_declaration function_item impl_item struct_item enum_item trait_item mod_item
    class method singleton_method trait_declaration object_declaration object_definition trait_definition
    """.split()  # noqa: SIM905
)
# Nodes around a definition that belong to it, and what stands above one and speaks of it.
WRAPPERS = frozenset({"decorated_definition", "export_statement", "template_declaration"})
REMARKS = frozenset({"comment", "line_comment", "block_comment", "attribute_item", "doc_comment"})
FUNCTIONS = frozenset({"arrow_function", "function_expression", "function", "class"})
# Deeper definitions, and those of larger files, are not looked for.
DEEPEST, MOST_BYTES = 12, 3 * 2**20
NAME_CHARS = 100


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition with its first and last line, from 1, remarks above it included."""

    name: str
    first: int
    last: int
    inner: tuple[Definition, ...] = ()


def definitions_of(text: str, suffix: str | None) -> tuple[Definition, ...]:
    """Return the outermost definitions of a program in order; none if its language is unknown.

    `suffix` is the lower-case extension of the program's name.
    """
    language = SUFFIXES.get(suffix or "")
    content = text.encode()
    if language is None or len(content) > MOST_BYTES:
        return ()
    module, function = GRAMMARS[language]
    grammar = Language(getattr(import_module(module), function)())
    root = Parser(grammar).parse(content).root_node
    return tuple(_within(root, 0))


def _within(node: Node, depth: int) -> Iterator[Definition]:
    """Yield the definitions below a node that are in no other definition."""
    remarks_from: int | None = None
    remarks_to = -1
    for child in node.named_children:
        first, last = child.start_point.row + 1, _last_line(child)
        if child.type in REMARKS:
            is_next = remarks_from is not None and first <= remarks_to + 1
            remarks_from, remarks_to = (remarks_from if is_next else first), last
            continue
        defined = _defined(child)
        if defined is not None:
            has_remarks = remarks_from is not None and remarks_to == first - 1
            inner = tuple(_within(defined, depth + 1)) if depth < DEEPEST else ()
            start = remarks_from if has_remarks and remarks_from is not None else first
            yield Definition(_name(defined), start, last, inner)
        elif depth < DEEPEST:
            yield from _within(child, depth + 1)
        remarks_from = None


def _defined(node: Node) -> Node | None:
    """Return the definition that a node is, wraps, or assigns to a name."""
    if node.type in DEFINITIONS:
        # `struct lamp *light;` names a structure and defines none.
        has_body = node.child_by_field_name("body") is not None or node.named_child_count > 1
        return node if (has_body or node.type == "type_declaration") and _name(node) else None
    if node.type in WRAPPERS:
        return next((found for child in node.named_children if (found := _defined(child))), None)
    if node.type in ("lexical_declaration", "variable_declaration") and node.named_child_count == 1:
        declared = node.named_children[0]
        value = declared.child_by_field_name("value")
        return declared if value is not None and value.type in FUNCTIONS and _name(declared) else None
    return None


def _name(node: Node) -> str:
    """Return the name of a definition as the program writes it, "" if it has none."""
    named = node.child_by_field_name("type" if node.type == "impl_item" else "name")
    declarator = node.child_by_field_name("declarator")
    while named is None and declarator is not None:
        inner = declarator.child_by_field_name("declarator")
        named, declarator = (declarator, None) if inner is None else (None, inner)
    if named is None:
        # Of Go's type declarations the name is one level below.
        below = (child.child_by_field_name("name") for child in node.named_children)
        named = next((name for name in below if name is not None), None)
    text = named.text.decode(errors="replace") if named is not None and named.text else ""
    return " ".join(text.split())[:NAME_CHARS]


def _last_line(node: Node) -> int:
    """Return a node's last line, from 1; some nodes end with the line break."""
    row, column = node.end_point
    return row if column == 0 and row > node.start_point.row else row + 1
