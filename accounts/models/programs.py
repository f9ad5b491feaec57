"""Programs that people connect by OAuth (ADR 69): what a person allows one is an `ApiKey` with `program`."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.models.people import ApiKey, User
from accounts.roles import KeyScope
from accounts.row_policies import ROWS_OF_USER, RowPolicy

MAX_REDIRECT_URI = 500
MAX_RESOURCE = 500


class AuthorizationCode(models.Model):
    """What a person has allowed a program, until the program turns it into tokens: once, within minutes."""

    digest = models.CharField(max_length=64, unique=True, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    program = models.ForeignKey("accounts.Program", on_delete=models.CASCADE, related_name="+")
    redirect_uri = models.CharField(max_length=MAX_REDIRECT_URI)
    challenge = models.CharField(max_length=128, help_text="of the program's proof (PKCE, S256)")
    scopes = ArrayField(models.CharField(max_length=10, choices=KeyScope.choices))
    workspace_ids = ArrayField(models.UUIDField())
    resource = models.CharField(max_length=MAX_RESOURCE, help_text="the address that its tokens are for")
    expires_at = models.DateTimeField(db_index=True)
    key = models.ForeignKey(
        ApiKey, null=True, on_delete=models.CASCADE, related_name="+", help_text="what it was turned into"
    )

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_USER

    def __str__(self) -> str:
        return f"code of {self.program_id} for {self.user_id}"


class ProgramTokenKind(models.TextChoices):
    """What a token is for."""

    ACCESS = "access"
    REFRESH = "refresh"


class ProgramToken(models.Model):
    """A token of a connected program; only its digest is stored."""

    digest = models.CharField(max_length=64, unique=True, editable=False)
    kind = models.CharField(max_length=10, choices=ProgramTokenKind.choices)
    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    scopes = ArrayField(models.CharField(max_length=10, choices=KeyScope.choices))
    resource = models.CharField(max_length=MAX_RESOURCE)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(db_index=True)
    replaced_at = models.DateTimeField(
        null=True, help_text="of a refresh token: whoever sends it after that has stolen it, or was robbed"
    )

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_USER

    def __str__(self) -> str:
        return f"{self.kind} token of {self.key_id}"

    def has_expired(self) -> bool:
        """Whether its time is over."""
        return self.expires_at <= timezone.now()
