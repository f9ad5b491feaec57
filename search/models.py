"""What all processes know of web providers: their breakers."""

from __future__ import annotations

from django.db import models


class Breaker(models.Model):
    """A provider in trouble; one that has no row is closed and has no failure to its name."""

    name = models.CharField(primary_key=True, max_length=50, help_text="e.g. web_search:brave")
    failures = models.PositiveIntegerField(default=0, help_text="consecutive ones")
    is_tripped = models.BooleanField(default=False, help_text="open, or half-open once the time is over")
    open_until = models.DateTimeField(null=True)
    openings = models.PositiveIntegerField(default=0, help_text="in a row, each twice as long as the last")
    successes = models.PositiveIntegerField(default=0, help_text="of probes since it opened")
    probe_until = models.DateTimeField(null=True, help_text="the lease of the one probe under way")
    refused = models.CharField(
        max_length=64, blank=True, help_text="digest of the configuration whose key was refused"
    )

    def __str__(self) -> str:
        return self.name
