"""Catalogs of translations: `locale/LANGUAGE/LC_MESSAGES/django.po`, and what is compiled from them.

Django reads `.mo` files, and pages load the texts of JavaScript modules as a static file. Both are compiled
when they are needed, by every process that finds none, into a folder named by a hash of the sources. A fresh
clone therefore needs no step of its own, and no gettext tools.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babel.messages import Catalog

FOR_MODULES = "For JavaScript modules too."
"""The comment of a message of Python that modules look up as well."""
MODULES = "frontend/"
VERSION = b"1"
"""Of the compiled form: change it, and everything is compiled again."""


def source_of(folder: Path, language: str) -> Path:
    """Return the file with the translations into a language."""
    return folder / language / "LC_MESSAGES" / "django.po"


def compiled_catalogs(sources: Path, target: Path) -> Path:
    """Return the folder with the compiled catalogs, made in `target` if it is not there.

    It holds `LANGUAGE/LC_MESSAGES/django.mo` for Django, and `static/language-LANGUAGE.js` for pages.
    """
    files = sorted(sources.glob("*/LC_MESSAGES/django.po"))
    digest = hashlib.sha256(VERSION)
    for file in files:
        digest.update(file.read_bytes())
    folder = target / digest.hexdigest()[:16]
    if not folder.is_dir():
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=target))
        (draft / "static").mkdir()
        for file in files:
            _compile(file, draft)
        try:
            draft.rename(folder)
        except OSError:
            # Another process was quicker.
            shutil.rmtree(draft)
    return folder


def read_catalog(file: Path) -> Catalog:
    """Return the translations in a file."""
    # Most processes find everything compiled, and need no library for it.
    from babel.messages.pofile import read_po

    with file.open("rb") as source:
        return read_po(source, locale=file.parent.parent.name)


def texts_for_modules(catalog: Catalog) -> dict[str, str | list[str]]:
    """Return what JavaScript modules look up: the translation, or its singular and plural, by the English."""
    texts: dict[str, str | list[str]] = {}
    for message in catalog:
        is_used = any(place.startswith(MODULES) for place, _ in message.locations)
        if not is_used and FOR_MODULES not in message.auto_comments:
            continue
        if isinstance(message.id, tuple):
            texts[message.id[0]] = [str(form) for form in message.string or ()]
        elif message.id and message.string:
            texts[str(message.id)] = str(message.string)
    return texts


def _compile(file: Path, draft: Path) -> None:
    from babel.messages.mofile import write_mo

    catalog = read_catalog(file)
    language = file.parent.parent.name
    compiled = draft / language / "LC_MESSAGES" / "django.mo"
    compiled.parent.mkdir(parents=True)
    with compiled.open("wb") as target:
        write_mo(target, catalog)
    texts = json.dumps(texts_for_modules(catalog), ensure_ascii=False, sort_keys=True)
    script = draft / "static" / f"language-{language}.js"
    script.write_text(f"globalThis.locusTexts={texts};\n", encoding="utf-8")
    # The same sources give the same static files, so that they aren't collected at each start.
    os.utime(script, (0, 0))
