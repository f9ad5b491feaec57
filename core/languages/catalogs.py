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
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babel.messages import Catalog

FOR_MODULES = "For JavaScript modules too."
"""The comment of a message of Python that modules look up as well."""
MODULES = "frontend/"
EVERYWHERE = "app"
"""The script that each page has, beside one of its own."""
VERSION = b"3"
"""Of the compiled form: change it, and everything is compiled again."""


def source_of(folder: Path, language: str) -> Path:
    """Return the file with the translations into a language."""
    return folder / language / "LC_MESSAGES" / "django.po"


def compiled_catalogs(sources: Path, target: Path, scripts: Path) -> Path:
    """Return the folder with the compiled catalogs, made in `target` if it is not there.

    It holds `LANGUAGE/LC_MESSAGES/django.mo` for Django. In `static` it has for pages `language-LANGUAGE.js`
    with the texts of all modules, and `language-LANGUAGE-SCRIPT.js` for each script that the file `scripts`
    names, which the front end's build writes; for none, if that is not there.
    """
    files = sorted(sources.glob("*/LC_MESSAGES/django.po"))
    built = scripts.read_bytes() if scripts.is_file() else b"{}"
    digest = hashlib.sha256(VERSION + built)
    for file in files:
        digest.update(file.read_bytes())
    modules = {name: script["modules"] for name, script in json.loads(built).items()}
    folder = target / digest.hexdigest()[:16]
    if not folder.is_dir():
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=target))
        (draft / "static").mkdir()
        for file in files:
            _compile(file, draft, modules)
        _give_to_owner(target, draft)
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


Texts = dict[str, str | list[str]]
"""What JavaScript modules look up: the translation, or its singular and plural, by the English."""


def texts_for_modules(catalog: Catalog, modules: Iterable[str] | None = None) -> Texts:
    """Return the texts of some modules (paths in `frontend/`), or of all, and what the server says to any."""
    chosen = None if modules is None else {MODULES + path for path in modules}
    texts: Texts = {}
    for message in catalog:
        places = {place for place, _ in message.locations if place.startswith(MODULES)}
        is_used = bool(places if chosen is None else places & chosen)
        if not is_used and FOR_MODULES not in message.auto_comments:
            continue
        if isinstance(message.id, tuple):
            texts[message.id[0]] = [str(form) for form in message.string or ()]
        elif message.id and message.string:
            texts[str(message.id)] = str(message.string)
    return texts


def texts_of_scripts(catalog: Catalog, modules: Mapping[str, Iterable[str]]) -> dict[str, Texts]:
    """Return the texts of each script, by its modules: a page's has none of those that each page has."""
    everywhere = texts_for_modules(catalog, modules.get(EVERYWHERE, ()))
    texts = {EVERYWHERE: everywhere}
    for name in set(modules) - {EVERYWHERE}:
        own = texts_for_modules(catalog, modules[name])
        texts[name] = {text: own[text] for text in own.keys() - everywhere.keys()}
    return texts


def _compile(file: Path, draft: Path, modules: Mapping[str, Iterable[str]]) -> None:
    from babel.messages.mofile import write_mo

    catalog = read_catalog(file)
    language = file.parent.parent.name
    compiled = draft / language / "LC_MESSAGES" / "django.mo"
    compiled.parent.mkdir(parents=True)
    with compiled.open("wb") as target:
        write_mo(target, catalog)
    _write_texts(draft / "static" / f"language-{language}.js", texts_for_modules(catalog))
    if modules:
        for name, texts in texts_of_scripts(catalog, modules).items():
            _write_texts(draft / "static" / f"language-{language}-{name}.js", texts)


def _give_to_owner(target: Path, draft: Path) -> None:
    """Give what root has compiled to the owner of the folder around `target`, who may run the server."""
    if os.geteuid() == 0:
        owner = target.parent.stat()
        for path in (target, draft, *draft.rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid)


def key_of_text(text: str) -> str:
    """Return the key of a text in modules: FNV-1a of its code points, as in `frontend/src/texts.js`."""
    key = 0x811C9DC5
    for sign in text:
        key = (key ^ ord(sign)) * 0x01000193 & 0xFFFFFFFF
    return f"{key:x}"


def _write_texts(script: Path, texts: Texts) -> None:
    by_key = {key_of_text(text): translation for text, translation in texts.items()}
    written = json.dumps(by_key, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    script.write_text(f"Object.assign(globalThis.locusTexts??={{}},{written});\n", encoding="utf-8")
    # The same sources give the same static files, so that they aren't collected at each start.
    os.utime(script, (0, 0))
