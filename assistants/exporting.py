"""A branch of a conversation as a file: Markdown, or PDF by PyMuPDF, with its citations as footnotes.

Footnotes are numbered through the whole file, by first appearance. Only what its reader may see is in it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal
from uuid import UUID

import pymupdf
from django.http import HttpResponse
from django.utils.http import content_disposition_header
from markdown_it import MarkdownIt

from accounts.models import Session
from accounts.principal import Principal
from assistants.messages import path_to
from assistants.models import ChatMessage
from assistants.thread import ThreadView, messages_of
from core.errors import NotFound
from core.text.visible_text import one_line
from search.generation.extractive import escape_markdown

CITATION = re.compile(r"<((?:web_)?citation) [^<>]*>\\?\[(\d+)\\?\]</(?:web_)?citation>")
"""`[N]` may stand escaped; N is the rank of a context or a source."""
UNANSWERED = "*There is no answer to this question.*"
WITHHELD = "*This answer was made from documents that you can not see.*"
STYLE = """
    body { font-family: sans-serif; font-size: 10pt; line-height: 1.4; }
    h1 { font-size: 18pt; } h2 { font-size: 12pt; margin-top: 14pt; }
    sup { font-size: 7pt; } .notes { font-size: 8pt; } table { border: 1px solid #999; }
    pre { font-size: 8pt; }
"""
PAPER = pymupdf.paper_rect("a4")
INSIDE = pymupdf.Rect(PAPER.x0 + 56, PAPER.y0 + 56, PAPER.x1 - 56, PAPER.y1 - 56)


@dataclass(slots=True)
class Footnotes:
    """The cited places of a file, each once, in the order in which they appear."""

    texts: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """Return the number of a footnote."""
        return self.texts.setdefault(text, len(self.texts) + 1)


def exported(
    principal: Principal, session: Session, format: Literal["md", "pdf"], message_id: UUID | None
) -> HttpResponse:
    """Return a branch of a session as a download; raise `NotFound` for a message that is not in it."""
    branch = _branch(principal, session, message_id)
    title = one_line(session.title) or "Conversation"
    if format == "pdf":
        content, mime_type = as_pdf(title, branch), "application/pdf"
    else:
        content, mime_type = as_markdown(title, branch).encode(), "text/markdown; charset=utf-8"
    response = HttpResponse(content, content_type=mime_type)
    name = content_disposition_header(True, f"{title[:80]}.{format}")
    response["Content-Disposition"] = name or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _branch(principal: Principal, session: Session, message_id: UUID | None) -> list[dict[str, Any]]:
    """Return the messages from the first to one of them, the newest by default, as their reader sees them."""
    messages = messages_of(principal, session)
    last = messages.filter(pk=message_id).first() if message_id else messages.last()
    if last is None and message_id is not None:
        raise NotFound(param="message_id")
    ids = [message.pk for message in path_to(principal, last)] if last else []
    view = ThreadView.of(principal, session)
    rows: dict[UUID, ChatMessage] = {row.pk: row for row in messages.filter(pk__in=ids)}
    return [view.shown(rows[id]) for id in ids]


# --- Markdown --------------------------------------------------------------------------------------------


def as_markdown(title: str, branch: Iterable[Mapping[str, Any]]) -> str:
    """Return a branch as Markdown with footnotes as `[^1]`."""
    notes = Footnotes()
    parts = [f"# {escape_markdown(title)}", *_parts(branch, notes, "[^{}]")]
    listed = [f"[^{number}]: {escape_markdown(text)}" for text, number in notes.texts.items()]
    return "\n\n".join([*parts, *listed]) + "\n"


def _parts(branch: Iterable[Mapping[str, Any]], notes: Footnotes, mark: str) -> Iterator[str]:
    """Yield each question as a heading, and its last answer."""
    for message in branch:
        question = " ".join((message["content"] or "(withheld)").split())
        yield f"## {escape_markdown(question)}"
        yield _answer(message["answers"], notes, mark)


def _answer(answers: Sequence[Mapping[str, Any]], notes: Footnotes, mark: str) -> str:
    result = next((answer["result"] for answer in reversed(answers) if answer["result"]), None)
    if result is None:
        return UNANSWERED
    if result.get("unavailable"):
        return WITHHELD
    places = {each["rank"]: _place_of(each) for each in result.get("contexts", ())}
    places |= {each["rank"]: f"{each['title']}, {each['url']}" for each in result.get("sources", ())}

    def footnote(match: re.Match[str]) -> str:
        text = places.get(int(match[2]))
        return "" if text is None else mark.format(notes.number(text))

    return CITATION.sub(footnote, result["response"]).strip()


def _place_of(context: Mapping[str, Any]) -> str:
    """Return where a passage stands: the document, and its page or time."""
    name = str(context["document_name"])
    if context["page_number"] is not None:
        return f"{name}, page {context['page_number']}"
    if context["start_time"] is not None:
        return f"{name}, {_clock(context['start_time'])}–{_clock(context['end_time'])}"
    place = context.get("place") or {}
    parts = [place.get("sheet"), place.get("cells")]
    parts += [f"slide {number}" for number in place.get("slides") or ()]
    parts += ["lines {}–{}".format(*place["lines"])] if place.get("lines") else []
    return ", ".join([name, *filter(None, parts)])


def _clock(seconds: float) -> str:
    minutes, secs = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes}:{secs:02}"


# --- PDF -------------------------------------------------------------------------------------------------


def as_pdf(title: str, branch: Iterable[Mapping[str, Any]]) -> bytes:
    """Return a branch as a PDF of A4 pages."""
    notes = Footnotes()
    # An answer can bring neither HTML nor anything that is loaded or followed.
    markdown = (
        MarkdownIt("commonmark", {"html": False}).enable("table").disable(["link", "image", "autolink"])
    )
    body = "".join(map(markdown.render, _parts(branch, notes, "[^{}]")))
    body = re.sub(r"\[\^(\d+)\]", r"<sup>\1</sup>", body)
    listed = "".join(f"<p>{number}. {escape(text)}</p>" for text, number in notes.texts.items())
    sources = f"<h2>Sources</h2><div class='notes'>{listed}</div>" if listed else ""
    return _draw(f"<h1>{escape(title)}</h1>{body}{sources}")


def _draw(html: str) -> bytes:
    story = pymupdf.Story(html=html, user_css=STYLE)
    file = io.BytesIO()
    writer = pymupdf.DocumentWriter(file)
    has_more = True
    while has_more:
        device = writer.begin_page(PAPER)
        has_more, _ = story.place(INSIDE)
        story.draw(device)
        writer.end_page()
    writer.close()
    return file.getvalue()
