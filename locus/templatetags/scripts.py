"""The scripts of a page: one that all pages have, and one of its own, named by its `data-page`."""

from __future__ import annotations

import json
import re
from typing import TypedDict

from django import template
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from core.languages import SOURCE_LANGUAGE

register = template.Library()
PAGE = re.compile(r'data-page="([A-Za-z]{1,40})"')
SHARED_PARTS = "scripts.json"
"""What `frontend/build.js` writes of each script."""


class Script(TypedDict):
    """A script as the build describes it."""

    parts: list[str]
    """Names of the files that it imports."""
    modules: list[str]
    """Paths of the modules in it and in them: their texts are needed."""


@register.simple_tag
def script(name: str) -> SafeString:
    """Load a script, and at the same time what it imports: the browser would see that only later.

    The texts of its modules come before it, in the language of the page.
    """
    described = _read_scripts().get(name)
    # These files are named by their content already, and import each other by these names.
    parts = ((f"{settings.STATIC_URL}{part}",) for part in (described["parts"] if described else []))
    preloads = format_html_join("\n    ", '<link rel="modulepreload" href="{}">', parts)
    language = get_language() or SOURCE_LANGUAGE
    texts: SafeString | str = ""
    if described and language != SOURCE_LANGUAGE:
        texts = format_html(
            '\n    <script defer src="{}"></script>', static(f"language-{language}-{name}.js")
        )
    return format_html(
        '{}{}\n    <script type="module" src="{}"></script>', preloads, texts, static(f"{name}.js")
    )


@register.simple_block_tag
def with_page_script(content: str) -> SafeString:
    """Put the script behind the part of a page that is for it: `<… data-page="keys">` has `page-keys.js`."""
    found = PAGE.search(content)
    return format_html("{}{}", content, script(f"page-{found[1]}") if found else "")


def _read_scripts() -> dict[str, Script]:
    """Return all scripts by their names; none before static files are collected."""
    try:
        with staticfiles_storage.open(SHARED_PARTS) as file:
            scripts: dict[str, Script] = json.load(file)
    except FileNotFoundError:
        return {}
    return scripts
