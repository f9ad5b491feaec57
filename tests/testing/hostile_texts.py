"""Texts that are bad for careless readers: long runs of one thing, and what opens without an end."""

from __future__ import annotations

SIZE = 50_000
RUNS = {
    "digits": "9",
    "equals": "=",
    "digits and dots": "9.",
    "brackets": "[",
    "parentheses": "(",
    "quotation marks": "“",
    "less than": "<",
    "references": "&#",
    "spaces": " ",
    "letters": "a",
    "small words": "a ",
    "marks": "\u0301\u0327",
    "invisible": "\u200b",
    "base64": "QmFzZTYx",
    "questions": "? ",
    "dashes": "- ",
    "leaders": ". ",
    "comments": "<!--",
    "lists": "> - ",
}


def run(seed: str, size: int = SIZE) -> str:
    """Return about `size` characters of one thing."""
    return seed * (size // len(seed))


def texts(begin: str) -> dict[str, bytes]:
    """Return files by their names; each begins with a text that may be asked about."""
    made = {f"{name}.txt": f"{begin} {run(seed)}x" for name, seed in RUNS.items()}
    made["nested.md"] = f"# Notes\n\n{begin}\n\n{run('>', 20_000)} deep\n\n{run('[', 20_000)}\n"
    made["styles.html"] = (
        f"<html><body><p>{begin}</p><p style='font-size:{run('9', 400_000)}px'>a</p>"
        f"<p style='color:rgb({run('9', 400_000)},1,1)'>b</p>"
        f"<p style='{run('a-', 400_000)}'>c</p></body></html>"
    )
    made["one line.txt"] = f"{begin} {run('9', 5_000_000)}"
    return {name: text.encode() for name, text in made.items()}
