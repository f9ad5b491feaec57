"""`bin/translate`: what the sources mark is taken into the catalogs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from babel.messages import Catalog
from babel.messages.pofile import write_po

from core.languages import LANGUAGES, SOURCE_LANGUAGE
from core.languages.catalogs import FOR_MODULES, read_catalog, source_of
from tests.testing.translations.extraction import MarkedText, marked_texts

ROOT = Path(__file__).resolve().parents[3]
PLURALS = {"de": "nplurals=2; plural=(n != 1);", "fr": "nplurals=2; plural=(n > 1);"}
"""French has a third form in some catalogs, for millions; two serve the texts here."""


def main() -> int:
    """Update the catalogs, print what they lack, and return 1 if they lack something."""
    marked, lacking = list(marked_texts(ROOT)), 0
    for language in LANGUAGES:
        if language == SOURCE_LANGUAGE:
            continue
        file = source_of(ROOT / "locale", language)
        catalog = updated(read_catalog(file) if file.exists() else Catalog(locale=language), marked)
        write(catalog, file)
        for text in untranslated(catalog):
            lacking += 1
            sys.stdout.write(f"{language}: {text}\n")
    sys.stdout.write(f"{lacking} translations are missing.\n" if lacking else "Every text is translated.\n")
    return 1 if lacking else 0


def updated(old: Catalog, marked: Iterable[MarkedText]) -> Catalog:
    """Return a catalog of the marked texts, with the translations of an old one."""
    language = str(old.locale)
    new = Catalog(locale=language, fuzzy=False)
    for text in marked:
        forms = forms_of(old, text)
        comments = [FOR_MODULES] if text.is_for_modules else []
        # Without a line: the catalogs change only where texts do.
        place: list[Any] = [(text.place, None)]
        if text.plural is None:
            new.add(text.text, forms[0], locations=place, auto_comments=comments, context=text.context)
        else:
            pair = forms if len(forms) == 2 else ("", "")
            id = (text.text, text.plural)
            new.add(id, pair, locations=place, auto_comments=comments, context=text.context)
    return new


def forms_of(catalog: Catalog, text: MarkedText) -> tuple[str, ...]:
    """Return the translation of a text, or its singular and plural; an empty text for none."""
    message = catalog.get(text.text, context=text.context)
    if message is None or message.string is None:
        return ("",)
    return (message.string,) if isinstance(message.string, str) else tuple(message.string)


def untranslated(catalog: Catalog) -> list[str]:
    """Return the English texts without a translation."""
    texts = []
    for message in catalog:
        forms = message.string if isinstance(message.string, tuple) else (message.string,)
        if message.id and not all(forms):
            texts.append(message.id[0] if isinstance(message.id, tuple) else str(message.id))
    return texts


def write(catalog: Catalog, file: Path) -> None:
    """Write a catalog so that each change of a source changes few lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as target:
        write_po(target, catalog, width=100, sort_by_file=True, omit_header=True)
    body = file.read_text("utf-8")
    header = (
        f'msgid ""\nmsgstr ""\n"Language: {catalog.locale}\\n"\n"MIME-Version: 1.0\\n"\n'
        f'"Content-Type: text/plain; charset=utf-8\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n'
        f'"Plural-Forms: {PLURALS[str(catalog.locale)]}\\n"\n\n'
    )
    file.write_text(header + body, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
