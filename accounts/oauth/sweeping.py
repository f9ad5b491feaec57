"""Deletion of what has expired: codes, tokens, connections that nothing opens any more, unused programs."""

from __future__ import annotations

from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.models import ApiKey, AuthorizationCode, ProgramToken
from accounts.oauth.connections import disconnect
from accounts.oauth.registering import expired_programs


def delete_expired() -> None:
    """Delete it; a connection ends with its last token."""
    now = timezone.now()
    AuthorizationCode.objects.filter(expires_at__lt=now, key=None).delete()
    ProgramToken.objects.filter(expires_at__lt=now).delete()
    living = ProgramToken.objects.values("key")
    for key in ApiKey.objects.exclude(program=None).exclude(pk__in=living).select_related("user"):
        disconnect(key, None, why="unused for long")
    expired_programs().delete()


@app.periodic(cron="47 * * * *")
@app.task(name="delete_expired_program_access", queueing_lock="delete_expired_program_access")
def delete_expired_program_access(timestamp: int) -> None:
    """Delete what has expired of connected programs."""
    delete_expired()
