"""The scripts of a page: one that all pages have, and one of its own, named by its `data-page`."""

from __future__ import annotations

import json
import re

from django import template
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()
PAGE = re.compile(r'data-page="([A-Za-z]{1,40})"')
SHARED_PARTS = "scripts.json"
"""What `frontend/build.js` writes: which files each script imports, itself not among them."""


@register.simple_tag
def script(name: str) -> SafeString:
    """Load a script, and at the same time what it imports: the browser would see that only later."""
    # These files are named by their content already, and import each other by these names.
    parts = ((f"{settings.STATIC_URL}{part}",) for part in _parts_of(name))
    preloads = format_html_join("\n    ", '<link rel="modulepreload" href="{}">', parts)
    return format_html('{}\n    <script type="module" src="{}"></script>', preloads, static(f"{name}.js"))


@register.simple_block_tag
def with_page_script(content: str) -> SafeString:
    """Put the script behind the part of a page that is for it: `<… data-page="keys">` has `page-keys.js`."""
    found = PAGE.search(content)
    return format_html("{}{}", content, script(f"page-{found[1]}") if found else "")


def _parts_of(name: str) -> list[str]:
    """Return the names of the files that a script imports; none before static files are collected."""
    try:
        with staticfiles_storage.open(SHARED_PARTS) as file:
            parts: dict[str, list[str]] = json.load(file)
    except FileNotFoundError:
        return []
    return parts.get(name, [])
