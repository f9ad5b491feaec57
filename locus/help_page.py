"""The page Help: what can be asked, the kinds of file, the limits in force, shortcuts, the version."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_GET

from accounts.access.identity import principal_of_user
from accounts.models import User
from accounts.scope import as_principal
from core.languages.numbers import grouped, size_in_words
from extract.kinds import KINDS
from kb.models import Document
from locus.demo import EXTERNAL_ID
from search.inputs import MOST_QUERY_CHARS

GROUPS = [
    (gettext_lazy("Documents"), ("pdf", "docx", "doc", "odt", "rtf", "epub")),
    (gettext_lazy("Slides"), ("pptx", "ppt", "odp")),
    (gettext_lazy("Sheets and data"), ("xlsx", "xlsb", "xls", "ods", "csv", "tsv", "json", "xml")),
    (gettext_lazy("Text and web pages"), ("html", "mhtml", "md", "txt", "code")),
    (gettext_lazy("E-mails, with what is attached"), ("eml", "msg", "mbox")),
    (gettext_lazy("Pictures and scans"), ("png", "jpg", "tiff", "webp", "bmp", "gif", "heic", "jp2")),
    (
        gettext_lazy("Recordings"),
        ("mp3", "wav", "m4a", "flac", "ogg", "opus", "aac", "aiff", "wma", "amr", "au", "caf"),
    ),
    (
        gettext_lazy("Films, by their sound"),
        ("mp4", "webm", "mkv", "mov", "avi", "mpg", "wmv", "3gp", "subtitles"),
    ),
]
"""Kinds of file under headings for people; tests/locus/test_help.py checks that none is missing."""
MOST_EXTENSIONS = 12


@dataclass(frozen=True, slots=True)
class KindGroup:
    """Kinds of file that belong together."""

    title: str
    extensions: str
    more: int
    """How many extensions are left out."""


@require_GET
@login_required
def help_page(request: HttpRequest) -> HttpResponse:
    """Show the page."""
    assert isinstance(request.user, User)
    principal = principal_of_user(request.user)
    with as_principal(principal):
        guide = Document.objects.restricted_to(principal).filter(external_id=EXTERNAL_ID).first()
    shown = {"groups": kind_groups(), "limits": limits(), "version": settings.VERSION, "guide": guide}
    return render(request, "locus/help.html", shown)


def kind_groups() -> list[KindGroup]:
    """Return the kinds that are read, by their extensions."""
    groups = []
    for title, names in GROUPS:
        extensions = [each.removeprefix(".") for name in names for each in KINDS[name].extensions]
        left_out = max(0, len(extensions) - MOST_EXTENSIONS)
        groups.append(KindGroup(str(title), ", ".join(extensions[:MOST_EXTENSIONS]), left_out))
    return groups


def limits() -> list[tuple[str, str]]:
    """Return what the settings of this deployment allow, in words."""
    known = [
        (gettext("A file"), size_in_words(settings.MAX_UPLOAD_BYTES)),
        (gettext("Pages of a document"), grouped(settings.MAX_PAGES)),
        (gettext("Files in one upload"), grouped(settings.MAX_FILES_PER_REQUEST)),
        (gettext("Web pages added at once"), grouped(settings.MAX_URLS_PER_REQUEST)),
        (gettext("Documents of a workspace that wait to be read"), grouped(settings.MAX_WAITING_DOCUMENTS)),
        (gettext("A question"), gettext("%(count)s characters") % {"count": grouped(MOST_QUERY_CHARS)}),
    ]
    if settings.QUOTA_DOCUMENTS is not None:
        known.append((gettext("Documents of a workspace"), grouped(settings.QUOTA_DOCUMENTS)))
    if settings.QUOTA_STORAGE_BYTES is not None:
        known.append((gettext("Files of a workspace"), size_in_words(settings.QUOTA_STORAGE_BYTES)))
    if settings.RUNS_PER_MINUTE:
        known.append((gettext("Questions a minute"), grouped(settings.RUNS_PER_MINUTE)))
    return known
