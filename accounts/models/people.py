"""Users, workspaces, conversations and API keys: who can ask, and for whom."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy

from accounts.roles import KeyScope, Role
from core.errors import Conflict


class Theme(models.TextChoices):
    """The colours of the pages."""

    SYSTEM = "system", gettext_lazy("As the system")
    LIGHT = "light", gettext_lazy("Light")
    DARK = "dark", gettext_lazy("Dark")


class EmailUserManager(UserManager["User"]):
    """Creates users known by their e-mail address, each with a personal workspace.

    Administrators and their programs create users here, so their addresses count as verified.
    """

    @transaction.atomic
    def _create_user(self, email: str, password: str | None, **extra: Any) -> User:
        # allauth's tables can be imported only after these.
        from accounts.addresses import vouch_for_address

        user = self.model(email=self.normalize_email(email), **extra)
        user.set_password(password)
        user.save(using=self._db)
        vouch_for_address(user)
        return user

    def create_user(  # type: ignore[override]
        self, email: str, password: str | None = None, **extra: Any
    ) -> User:
        """Create a person with a login."""
        return self._create_user(email, password, **extra)

    def create_superuser(  # type: ignore[override]
        self, email: str, password: str | None = None, **extra: Any
    ) -> User:
        """Create a person who may also use the admin panel."""
        return self._create_user(email, password, is_staff=True, is_superuser=True, **extra)

    def get_by_natural_key(self, username: str | None) -> User:
        """Find a user by e-mail address, ignoring case.

        Python's lower case is used for stored addresses and for counting attempts; PostgreSQL folds other
        letters.
        """
        return self.get(email=(username or "").lower())


class User(AbstractUser):
    """A person with a login; owns API keys and a personal workspace."""

    username = first_name = last_name = None  # type: ignore[assignment]
    email = models.EmailField("e-mail address", unique=True)
    name = models.CharField(
        max_length=150, blank=True, help_text="As others see it; people may leave it out."
    )
    language = models.CharField(
        max_length=35, blank=True, help_text="Of pages and mails; blank: as in the browser."
    )
    formats = models.CharField(
        max_length=35, blank=True, help_text="How dates and numbers are written; blank: as in the language."
    )
    time_zone = models.CharField(max_length=64, blank=True, help_text="Blank: the time zone of the browser.")
    theme = models.CharField(max_length=10, choices=Theme, default=Theme.SYSTEM)
    guide_added_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When the guide was added; it is added only once."
    )
    shows_welcome = models.BooleanField(default=True, help_text="Cards with first steps on the page Ask.")

    objects: ClassVar[EmailUserManager] = EmailUserManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    def __str__(self) -> str:
        return self.email

    def get_full_name(self) -> str:
        """Return the name, which may be blank."""
        return self.name

    def get_short_name(self) -> str:
        """Return the name, which may be blank."""
        return self.name

    def clean(self) -> None:
        """Normalise the address, so that forms find another user with the same one."""
        super().clean()
        self.email = self.email.lower()

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save, and create the personal workspace of a new user, which other code relies on."""
        # Addresses that differ only in case would be one mailbox and two accounts.
        self.email = self.email.lower()
        with transaction.atomic():
            is_new = self._state.adding
            super().save(*args, **kwargs)
            if is_new:
                Workspace.create_for(self, name="Personal", personal=True)

    @property
    def personal_workspace(self) -> Workspace:
        """The workspace that was made with the user and that is not shared."""
        return Workspace.objects.get(personal_of=self)


class Workspace(models.Model):
    """The unit of sharing."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    personal_of = models.OneToOneField(
        User, null=True, blank=True, editable=False, on_delete=models.CASCADE, related_name="+"
    )
    share_with_external_users = models.BooleanField(
        default=False,
        help_text="External users also see documents that belong to no external user.",
    )
    settings = models.JSONField(
        default=dict, editable=False, help_text="By section, what it sets; see accounts/preferences.py."
    )
    members: models.ManyToManyField[User, Membership] = models.ManyToManyField(
        User, through="Membership", related_name="workspaces"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # A deleted workspace is in nobody's principal, so nobody sees it; see accounts/people/workspaces.py.
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False, db_index=True)
    deleted_by = models.ForeignKey(
        User, null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.personal_of.email})" if self.personal_of else self.name

    @classmethod
    @transaction.atomic
    def create_for(cls, owner: User, *, name: str, personal: bool = False) -> Workspace:
        """Create a workspace with its owner as first member."""
        workspace = cls.objects.create(name=name, personal_of=owner if personal else None)
        Membership.objects.create(workspace=workspace, user=owner, role=Role.OWNER)
        return workspace


class Membership(models.Model):
    """A user's role in a workspace."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "user"], name="one_membership_per_user_and_workspace"
            )
        ]

    is_checked_alone: ClassVar[bool] = True
    """False if several memberships change together; the caller then checks for an owner itself."""

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.workspace}"

    @transaction.atomic
    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save, or raise `Conflict` if the workspace would lose its last owner."""
        if not self._state.adding and self.role != Role.OWNER:
            self._refuse_last_owner()
        super().save(*args, **kwargs)

    @transaction.atomic
    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete, or raise `Conflict` if the workspace would lose its last owner."""
        self._refuse_last_owner()
        return super().delete(*args, **kwargs)

    def _refuse_last_owner(self) -> None:
        if not self.is_checked_alone:
            return
        owners = Membership.objects.filter(workspace=self.workspace_id, role=Role.OWNER)
        # Two owners who resign at the same moment wait for each other here.
        if list(owners.select_for_update().values_list("pk", flat=True)) == [self.pk]:
            raise Conflict("A workspace needs an owner. Make somebody else its owner first.", param="role")


class Preferences(models.Model):
    """A user's preferences, by section (see `accounts.preferences`)."""

    user = models.OneToOneField(
        User, primary_key=True, editable=False, on_delete=models.CASCADE, related_name="+"
    )
    values = models.JSONField(default=dict, editable=False)

    class Meta:
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"Preferences of {self.user}"


class Program(models.Model):
    """A program that has registered, so that it can ask people for access (`accounts.oauth`).

    Anybody may register, under any name. It has no secret: what proves it is where its answers go.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=100)
    redirect_uris = ArrayField(models.CharField(max_length=500))
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, editable=False, help_text="when it last got a token")

    class Meta:
        ordering = ["-created_at", "id"]

    def __str__(self) -> str:
        return self.name

    @property
    def client_id(self) -> str:
        """Its id, as OAuth calls it."""
        return str(self.pk)


class ApiKey(models.Model):
    """A program's credential; the secret itself is never stored (see `accounts.access.keys`).

    With `program` it is what a person has allowed that program. Nobody has its secret then: the program has
    tokens, which are good for one address alone.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=200)
    prefix = models.CharField(max_length=16, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    secret_number = models.PositiveIntegerField(
        default=1,
        editable=False,
        help_text="counts the rotations: tokens name the secret they were made with",
    )
    old_digest = models.CharField(max_length=64, blank=True, editable=False)
    old_secret_until = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="until then the secret before the last rotation works",
    )
    old_secret_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    scopes = ArrayField(models.CharField(max_length=10, choices=KeyScope.choices), default=list)
    # A separate flag: when the last of its workspaces is deleted, a narrowed key must see nothing, not all.
    narrowed = models.BooleanField(default=False, help_text="Only the workspaces listed below.")
    workspaces: models.ManyToManyField[Workspace, models.Model] = models.ManyToManyField(
        Workspace, blank=True, related_name="+"
    )
    made_by = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        editable=False,
        on_delete=models.CASCADE,
        related_name="made_keys",
        help_text="The key that made this one, and takes it along when it is revoked.",
    )
    program = models.ForeignKey(
        Program,
        null=True,
        blank=True,
        editable=False,
        on_delete=models.CASCADE,
        related_name="keys",
        help_text="The program that its user has connected by it.",
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "id"]
        verbose_name = "API key"

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @transaction.atomic
    def delete(self, using: str | None = None, keep_parents: bool = False) -> tuple[int, dict[str, int]]:
        """Revoke the key and those that it has made.

        A run whose row is written at this moment names the key, which could then not go: it waits, and finds
        no key.
        """
        made = {self.pk}
        while made:
            locked = ApiKey.objects.select_for_update().filter(pk__in=made)
            made = set(ApiKey.objects.filter(made_by__in=list(locked)).values_list("pk", flat=True))
        return super().delete(using, keep_parents)

    def is_expired(self, now: datetime | None = None) -> bool:
        """Whether the key has expired."""
        return self.expires_at is not None and self.expires_at <= (now or timezone.now())

    def old_secret_works(self) -> bool:
        """Whether the secret before the last rotation still works."""
        return self.old_secret_until is not None and self.old_secret_until > timezone.now()

    def accepts_secret(self, number: int | None) -> bool:
        """Whether the secret with this number works: the present one, or the one before for a while."""
        is_old = number == self.secret_number - 1 and self.old_secret_works()
        return number == self.secret_number or is_old


class AttemptBucket(models.Model):
    """The number of recent attempts of one kind (see `accounts.access.throttling`)."""

    key = models.CharField(max_length=64, primary_key=True, help_text="digest of the limit and who it counts")
    empty_at = models.DateTimeField(db_index=True, help_text="when nothing of them counts any more")

    def __str__(self) -> str:
        return self.key

    @classmethod
    def sweep(cls) -> None:
        """Delete the empty buckets: a missing bucket equals an empty one."""
        cls.objects.filter(empty_at__lt=timezone.now()).delete()
