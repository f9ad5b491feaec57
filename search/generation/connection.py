"""The language model that an administrator connects on a page (docs/adr/0048-connecting-a-model.md).

Its key is encrypted in the database and leaves this module only within a `Choice`, which shows it nowhere.
"""

from __future__ import annotations

from accounts.models import User
from core.encryption import Undecryptable, decrypt, encrypt
from search.generation.base import Choice
from search.models import ModelConnection

LOST_KEY = (
    "The key of the connected model can't be decrypted, because ENCRYPTION_KEY has changed. "
    "Enter the key again on the page “Connect a model”."
)


def connection() -> ModelConnection | None:
    """Return what is connected."""
    return ModelConnection.objects.filter(pk=ModelConnection.ROW).select_related("changed_by").first()


def connected_choice() -> Choice | None:
    """Return the connected model; None without one. Its key is empty if it can't be decrypted."""
    known = ModelConnection.objects.filter(pk=ModelConnection.ROW).first()
    return None if known is None else choice_of(known)


def choice_of(known: ModelConnection) -> Choice:
    """Return the choice that a connection stands for."""
    return Choice(known.provider, known.model, known.address, key_of(known) or "")


def key_of(known: ModelConnection) -> str | None:
    """Return the key, empty if none is needed; None if it can't be decrypted."""
    try:
        return decrypt(known.encrypted_key) if known.encrypted_key else ""
    except Undecryptable:
        return None


def connect(choice: Choice, user: User) -> None:
    """Store the model that writes answers from now on, in all processes."""
    ModelConnection.objects.update_or_create(
        pk=ModelConnection.ROW,
        defaults={
            "provider": choice.provider,
            "model": choice.model,
            "address": choice.base_url,
            "encrypted_key": encrypt(choice.api_key) if choice.api_key else "",
            "changed_by": user,
        },
    )


def disconnect() -> bool:
    """Forget the model and its key; False if there was none."""
    return bool(ModelConnection.objects.all().delete()[0])


def renew_encryption() -> int:
    """Encrypt the key with the present `ENCRYPTION_KEY`, so that the earlier ones can be dropped.

    Return how many keys no `ENCRYPTION_KEY` can decrypt.
    """
    known = ModelConnection.objects.filter(pk=ModelConnection.ROW).first()
    if known is None or not known.encrypted_key:
        return 0
    key = key_of(known)
    if key is None:
        return 1
    same = ModelConnection.objects.filter(pk=known.pk, encrypted_key=known.encrypted_key)
    same.update(encrypted_key=encrypt(key))
    return 0
