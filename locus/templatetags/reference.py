"""Filters for the API reference."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

register = template.Library()
_markdown = MarkdownIt("commonmark", {"html": False})


@register.filter
def inline_markdown(text: str) -> SafeString:
    """Return a line of Markdown as HTML, without a paragraph around it."""
    html: SafeString = mark_safe(_markdown.renderInline(text))  # noqa: S308 - the renderer escapes HTML
    return html


@register.filter
def block_markdown(text: str) -> SafeString:
    """Return Markdown as HTML."""
    html: SafeString = mark_safe(_markdown.render(text))  # noqa: S308 - the renderer escapes HTML
    return html
