"""What all processes know of web providers: their breakers, and what was found lately."""

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


class CachedSearch(models.Model):
    """What a search found. The key is a digest: a row tells neither who asked nor what."""

    key = models.CharField(primary_key=True, max_length=64)
    value = models.JSONField()
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="cached_search_expiry")]

    def __str__(self) -> str:
        return self.key
