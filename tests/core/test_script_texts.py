"""Each script of a page has its texts in every language, and few others: each page stays small."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.languages import LANGUAGES, SOURCE_LANGUAGE
from core.languages.catalogs import (
    EVERYWHERE,
    compiled_catalogs,
    key_of_text,
    read_catalog,
    source_of,
    texts_for_modules,
    texts_of_scripts,
)
from locus.serve.account import find_or_make
from tests.testing.paths import ROOT
from tests.testing.translations.extraction import module_files, texts_of_module

DIST = ROOT / "frontend" / "dist"
TRANSLATED = [language for language in LANGUAGES if language != SOURCE_LANGUAGE]
MOST_SCRIPT = 150_000
"""Bytes, uncompressed, of what a page begins with."""
ON_DEMAND = re.compile(r"""\bimport\(["'](\.[^"']+)["']\)""")
WITH_TEXTS = re.compile(r"""\bimportWithTexts\(\(\) => import\(["'](\.[^"']+)["']\)\)""")


@pytest.fixture(scope="module")
def scripts() -> dict[str, Any]:
    """What the build of the front end says of its scripts."""
    if not (DIST / "scripts.json").exists():
        pytest.fail("The front end is not built: run “npm ci && npm run build” in frontend/.")
    found: dict[str, Any] = json.loads((DIST / "scripts.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the scripts that hold texts."""
    target = tmp_path_factory.mktemp("languages")
    return compiled_catalogs(ROOT / "locale", target, DIST / "scripts.json") / "static"


def loaded_texts(static: Path, language: str, *names: str) -> dict[str, Any]:
    """Return what is known after these scripts with texts have run, by the keys of texts."""
    texts: dict[str, Any] = {}
    for name in names:
        script = (static / f"language-{language}-{name}.js").read_text("utf-8")
        found = re.fullmatch(r"Object\.assign\(globalThis\.locusTexts\?\?=\{\},(.*)\);\n", script, re.DOTALL)
        assert found, script[:80]
        texts |= json.loads(found[1])
    return texts


def test_every_page_has_a_script_that_is_described(scripts: Mapping[str, Any]) -> None:
    pages = {f"page-{path.stem}" for path in (ROOT / "frontend" / "src" / "pages").glob("*.js")}
    assert set(scripts) == {EVERYWHERE} | pages
    assert "src/ask.js" in scripts["page-ask"]["modules"]


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_text_of_a_script_is_missing(scripts: Mapping[str, Any], static: Path, language: str) -> None:
    missing = []
    for name, script in scripts.items():
        texts = loaded_texts(static, language, *{EVERYWHERE: None, name: None})
        for path in script["modules"]:
            if path == "src/reference.js":
                # Of the API reference, which is English.
                continue
            source = (ROOT / "frontend" / path).read_text("utf-8")
            used = [text.text for text in texts_of_module(source, path)]
            missing += [(name, text) for text in used if key_of_text(text) not in texts]
    assert missing == []


def test_texts_have_keys_of_their_own() -> None:
    # The same text as in `frontend/test/texts.test.js`.
    assert key_of_text("Rename “{name}” 🗂") == "a48a45fb"
    for language in TRANSLATED:
        texts = texts_for_modules(read_catalog(source_of(ROOT / "locale", language)))
        assert len({key_of_text(text) for text in texts}) == len(texts)


@pytest.mark.parametrize("language", TRANSLATED)
def test_texts_come_once_and_only_where_they_are_used(scripts: Mapping[str, Any], language: str) -> None:
    modules = {name: script["modules"] for name, script in scripts.items()}
    texts = texts_of_scripts(read_catalog(source_of(ROOT / "locale", language)), modules)
    assert "New conversation" not in texts["page-keys"]
    for name in set(texts) - {EVERYWHERE}:
        assert not texts[name].keys() & texts[EVERYWHERE].keys()


def test_what_comes_on_demand_brings_its_texts() -> None:
    """A module that is imported later may need texts that the page has not loaded."""
    alone = []
    for path in module_files(ROOT):
        source = path.read_text("utf-8")
        alone += [
            (path.name, one) for one in set(ON_DEMAND.findall(source)) - set(WITH_TEXTS.findall(source))
        ]
    assert alone == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_page_begins_with_much_script(scripts: Mapping[str, Any], static: Path, language: str) -> None:
    large = {}
    for name, script in scripts.items():
        files = {DIST / "before-paint.js", DIST / f"{EVERYWHERE}.js", DIST / f"{name}.js"}
        files |= {DIST / part for part in [*scripts[EVERYWHERE]["parts"], *script["parts"]]}
        if language != SOURCE_LANGUAGE:
            files |= {static / f"language-{language}-{each}.js" for each in (EVERYWHERE, name)}
        size = sum(file.stat().st_size for file in files)
        if size > MOST_SCRIPT:
            large[name] = size
    assert large == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_what_root_compiles_the_owner_of_the_data_folder_can_read(tmp_path: Path) -> None:
    """A test or a command run by root must not stop the server, which runs as another account."""
    data = tmp_path / "data"
    data.mkdir()
    account = find_or_make()
    os.chown(data, account.pw_uid, account.pw_gid)
    folder = compiled_catalogs(ROOT / "locale", data / "languages", tmp_path / "none.json")
    made = [folder.parent, folder, *folder.rglob("*")]
    assert len(made) > 2
    assert {path.stat().st_uid for path in made} == {account.pw_uid}
