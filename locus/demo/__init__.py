"""The guide: a document about the product that each new user gets, and the questions that it answers well."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core.files.base import File
from django.db import transaction
from django.utils import timezone

from accounts.access.identity import principal_of_user
from accounts.models import User
from accounts.scope import as_principal
from core.errors import LocusError
from kb.documents import Details, add_document

GUIDE = Path(__file__).parent / "guide.pdf"
NAME = "A guide to Locus.pdf"
EXTERNAL_ID = "locus-guide"
"""By which the guide is found among a user's documents."""
QUESTIONS = (
    "How do I add a document to Locus?",
    "How do I check an answer?",
    "What leaves my machine?",
    "Which files can Locus read?",
)
"""Offered to new users; tests/locus/test_guide.py checks that the guide answers each of them."""

logger = logging.getLogger(__name__)


def connect() -> None:
    """Add the guide at each user's first login: by whatever way the user was made, or logs in."""
    user_logged_in.connect(_logged_in, dispatch_uid="guide")


def add_guide(user: User) -> bool:
    """Add the guide to the user's personal workspace; False if that was done once, or can't be done.

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
                _store(user)
    except (LocusError, OSError) as error:
        # A full disk or a quota must not keep anybody from logging in; the next login tries again.
        logger.warning("The guide could not be added for user %s: %s", user.pk, error)
        return False
    return bool(is_first)


def _store(user: User) -> None:
    principal = principal_of_user(user)
    assert principal.personal_workspace_id is not None
    details = Details(principal.personal_workspace_id, language="en", external_id=EXTERNAL_ID)
    with as_principal(principal), GUIDE.open("rb") as guide:
        add_document(principal, File(guide, name=NAME), details)


def _logged_in(user: User, **_: Any) -> None:
    add_guide(user)
