"""The guide: a document about the product that each new user gets, in the language of their pages."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core.files.base import File
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts.access.identity import principal_of_user
from accounts.models import User
from accounts.people.reader_language import reader_language, user_language
from accounts.scope import as_principal
from core.errors import LocusError
from core.languages import SOURCE_LANGUAGE
from kb.documents import Details, add_document

NAMES = {"en": "A guide to Locus.pdf", "de": "Eine Anleitung zu Locus.pdf", "fr": "Guide de Locus.pdf"}
EXTERNAL_ID = "locus-guide"
"""By which the guide is found among a user's documents."""
QUESTIONS = {
    "en": (
        "How do I add a document to Locus?",
        "How do I check an answer?",
        "What leaves my machine?",
        "Which files can Locus read?",
    ),
    "de": (
        "Wie füge ich Locus ein Dokument hinzu?",
        "Wie prüfe ich eine Antwort?",
        "Was verlässt meinen Rechner?",
        "Welche Dateien kann Locus lesen?",
    ),
    "fr": (
        "Comment ajouter un document à Locus ?",
        "Comment vérifier une réponse ?",
        "Qu’est-ce qui quitte ma machine ?",
        "Quels fichiers Locus peut-il lire ?",
    ),
}
"""Offered to new users; tests/locus/test_guide.py checks that the guide answers each of them."""

logger = logging.getLogger(__name__)


def connect() -> None:
    """Add the guide at each user's first login: by whatever way the user was made, or logs in."""
    user_logged_in.connect(_logged_in, dispatch_uid="guide")


def guide_file(language: str) -> Path:
    """Return the guide in a language; `make_guide.py` makes it."""
    return Path(__file__).parent / f"guide.{language}.pdf"


def add_guide(user: User, language: str = SOURCE_LANGUAGE) -> bool:
    """Add the guide in a language to the user's personal workspace; False if that was done once, or can't be.

    A user who deletes it does not get it again.
    """
    if not settings.WELCOME_GUIDE:
        return False
    try:
        with transaction.atomic():
            is_first = User.objects.filter(pk=user.pk, guide_added_at=None).update(
                guide_added_at=timezone.now()
            )
            if is_first:
                _store(user, language)
    except (LocusError, OSError) as error:
        # A full disk or a quota must not keep anybody from logging in; the next login tries again.
        logger.warning("The guide could not be added for user %s: %s", user.pk, error)
        return False
    return bool(is_first)


def _store(user: User, language: str) -> None:
    principal = principal_of_user(user)
    assert principal.personal_workspace_id is not None
    details = Details(principal.personal_workspace_id, language=language, external_id=EXTERNAL_ID)
    with as_principal(principal), guide_file(language).open("rb") as guide:
        add_document(principal, File(guide, name=NAMES[language]), details)


def _logged_in(user: User, request: HttpRequest | None, **_: Any) -> None:
    add_guide(user, reader_language(request) if request else user_language(user))
