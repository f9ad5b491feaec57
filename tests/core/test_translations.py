"""Every text that people read on pages and in mails is marked, and translated into every language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel.messages import Catalog
from django.utils import translation

from core.languages import LANGUAGES, SOURCE_LANGUAGE
from core.languages.catalogs import read_catalog, source_of, texts_for_modules
from tests.testing.paths import ROOT
from tests.testing.translations.extraction import (
    MarkedText,
    marked_texts,
    module_files,
    python_files,
    template_files,
    texts_of_module,
    texts_of_python,
    texts_of_template,
)
from tests.testing.translations.unmarked import unmarked_in_module, unmarked_in_python, unmarked_in_template
from tests.testing.translations.update import forms_of

TRANSLATED = [language for language in LANGUAGES if language != SOURCE_LANGUAGE]
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}|<[^>]+>|\bhttps?://[\w./:-]*\w")
# Django and its libraries translate these words too, and mean something else: they would get ours.
TAKEN = {"May", "may", "March", "Sun", "Sat", "second"}


@pytest.fixture(scope="module")
def marked() -> list[MarkedText]:
    return list(marked_texts(ROOT))


@pytest.fixture(scope="module", params=TRANSLATED)
def catalog(request: pytest.FixtureRequest) -> Catalog:
    return read_catalog(source_of(ROOT / "locale", request.param))


def test_every_marked_text_has_a_translation(marked: list[MarkedText], catalog: Catalog) -> None:
    """`bin/translate` takes new texts into the catalogs and lists what is missing."""
    missing = []
    for text in marked:
        forms = forms_of(catalog, text)
        if not forms or not all(forms) or (text.plural is not None) != (len(forms) == 2):
            missing.append(f"{text.place}: {text.text}")
    assert missing == []


def test_translations_keep_the_placeholders(marked: list[MarkedText], catalog: Catalog) -> None:
    wrong = []
    for text in marked:
        sources = [text.text] if text.plural is None else [text.text, text.plural]
        for source, form in zip(sources, forms_of(catalog, text), strict=True):
            if sorted(PLACEHOLDER.findall(source)) != sorted(PLACEHOLDER.findall(form)):
                wrong.append((source, form))
    assert wrong == []


def test_catalogs_have_no_text_that_nobody_marks(marked: list[MarkedText], catalog: Catalog) -> None:
    texts = {text.text for text in marked}
    ids = [
        message.id[0] if isinstance(message.id, tuple) else message.id for message in catalog if message.id
    ]
    assert [id for id in ids if id not in texts] == []


def test_modules_get_their_texts(marked: list[MarkedText], catalog: Catalog) -> None:
    wanted = {text.text for text in marked if text.is_for_modules or text.place.startswith("frontend/")}
    assert set(texts_for_modules(catalog)) == wanted


def test_no_text_is_left_unmarked() -> None:
    found: dict[str, list[str]] = {}
    for path in [*template_files(ROOT), *module_files(ROOT), *python_files(ROOT)]:
        if texts := unmarked_in(path):
            found[str(path.relative_to(ROOT))] = texts
    assert found == {}


def unmarked_in(path: Path) -> list[str]:
    source = path.read_text("utf-8")
    if path.suffix == ".py":
        # What only the admin panel shows is English.
        return [] if "admin" in path.name else list(unmarked_in_python(source))
    if path.suffix == ".js":
        return list(unmarked_in_module(source))
    return list(unmarked_in_template(source, path.suffix == ".txt"))


def test_our_translations_change_no_word_of_libraries(marked: list[MarkedText]) -> None:
    assert [text for text in marked if text.text in TAKEN] == []
    for language, month in (("de", "mai"), ("fr", "mai")):
        with translation.override(language):
            assert translation.gettext("May").lower() == month


def test_what_counts_as_marked() -> None:
    template = (
        '<p title="{% translate "A" %}">{% blocktranslate count n=2 %}{{ n }} b{% plural %}{{ n }} bs'
        '{% endblocktranslate %}</p>{% include "x" with y=_("C") %}'
    )
    found = [(text.text, text.plural) for text in texts_of_template(template, "")]
    assert found == [("A", None), ("%(n)s b", "%(n)s bs"), ("C", None)]
    module = (
        'const a = t("One"), b = tPlural("{count} two", "{count} twos", { count }), '
        'c = `${t("Three")} /`, d = x / t("Four"), e = /t("no")/;'
    )
    assert [text.text for text in texts_of_module(module, "")] == ["One", "{count} two", "Three", "Four"]
    python = 'a = gettext("One" "two")\nb = ngettext("3", "4", n)\nc = other("five")'
    assert [text.text for text in texts_of_python(python, "")] == ["Onetwo", "3"]


def test_what_counts_as_unmarked() -> None:
    template = '<b title="Close">{{ x }} words {% translate "Marked" %}</b>'
    assert list(unmarked_in_template(template, is_mail=False)) == ["Close", "words"]
    module = 'h("p", { class: "a b-c" }, "Read this", t("Marked"), `at ${x} places`); a.closest("Down now");'
    assert list(unmarked_in_module(module)) == ["Read this", "at {} places"]
    python = 'messages.success(r, "Saved.")\nraise forms.ValidationError(gettext("x"))'
    assert list(unmarked_in_python(python)) == ["Saved."]
