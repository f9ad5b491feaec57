"""What all processes know of providers: the breakers of search engines, and the model that answers."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
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


class ModelConnection(models.Model):
    """The language model that an administrator has connected on a page; one row at most."""

    ROW: ClassVar[int] = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ROW, editable=False)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    address = models.CharField(max_length=500, blank=True, help_text="empty: the provider's usual one")
    encrypted_key = models.TextField(blank=True, help_text="see core/encryption.py; empty: none is needed")
    changed_at = models.DateTimeField(auto_now=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_model_connection")]

    def __str__(self) -> str:
        return f"{self.model} by {self.provider}"
