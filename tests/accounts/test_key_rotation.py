"""Rotation of keys with overlap, and the pepper that keeps digests apart from SECRET_KEY."""

from __future__ import annotations

import hashlib
import hmac
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.access.keys import create_key, rotate
from accounts.models import ApiKey, AuditAction, AuditEntry
from tests.conftest import Cast
from tests.testing.paths import ROOT

API = "/api/v1/api-keys"
DAY = timedelta(days=1)


def works(secret: str) -> bool:
    status = Client().get("/api/v1/me", headers={"X-API-KEY": secret}).status_code
    assert status in (200, 401)
    return status == 200


def rotate_by_api(key: ApiKey | str, headers: dict[str, str], **body: Any) -> Any:
    id = key if isinstance(key, str) else key.pk
    return Client().post(f"{API}/{id}/rotate", json.dumps(body), "application/json", headers=headers)


def listed(cast: Cast, key: ApiKey) -> Any:
    results = Client().get(API, headers=cast.headers("alice")).json()["results"]
    return next(each for each in results if each["id"] == str(key.pk))


class TestRotation:
    def test_both_secrets_work_until_the_overlap_ends(self, cast: Cast) -> None:
        key, old = create_key(cast.alice, "ci")
        client = Client()
        client.force_login(cast.alice)
        reply = client.post(f"{API}/{key.pk}/rotate", "{}", content_type="application/json")
        new = reply.json()["key"]
        assert (reply.status_code, reply.json()["id"]) == (200, str(key.pk))
        assert works(old)
        assert works(new)
        shown = listed(cast, key)["old_secret"]
        assert abs(key_end(key) - (timezone.now() + DAY)) < timedelta(minutes=1)
        assert shown["last_used_at"] is not None
        assert new not in json.dumps(listed(cast, key))
        ApiKey.objects.filter(pk=key.pk).update(old_secret_until=timezone.now())
        assert (works(old), works(new)) == (False, True)
        assert listed(cast, key)["old_secret"] is None

    def test_the_overlap_can_be_ended_now(self, cast: Cast) -> None:
        key, old = create_key(cast.alice, "ci")
        new = rotate(key, DAY)
        address = f"{API}/{key.pk}/old-secret"
        assert Client().delete(address, headers=cast.headers("bob")).status_code == 404
        assert Client().delete(address, headers=cast.headers("alice")).status_code == 204
        assert (works(old), works(new)) == (False, True)
        assert Client().delete(address, headers=cast.headers("alice")).status_code == 404

    def test_without_overlap_the_old_secret_ends_at_once(self, cast: Cast) -> None:
        key, old = create_key(cast.alice, "ci", scopes=["admin", "read"])
        reply = rotate_by_api(key, {"X-API-KEY": old}, overlap_secs=0).json()
        assert (works(old), works(reply["key"]), reply["old_secret"]) == (False, True, None)

    def test_a_second_rotation_ends_the_oldest_secret(self, cast: Cast) -> None:
        key, first = create_key(cast.alice, "ci")
        second, third = rotate(key, DAY), rotate(key, DAY)
        assert [works(each) for each in (first, second, third)] == [False, True, True]

    def test_a_key_without_a_rotation_has_no_old_secret(self, cast: Cast) -> None:
        key, secret = create_key(cast.alice, "ci")
        ApiKey.objects.filter(pk=key.pk).update(old_secret_until=timezone.now() + DAY)
        assert works(secret)
        assert not works(f"locus_{key.prefix}_")
        assert not works(f"locus_{key.prefix}_wrong")

    def test_expiry_and_revocation_end_both_secrets(self, cast: Cast) -> None:
        key, old = create_key(cast.alice, "ci")
        new = rotate(key, DAY)
        ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now())
        assert (works(old), works(new)) == (False, False)
        person = Client()
        person.force_login(cast.alice)
        assert person.post(f"{API}/{key.pk}/rotate", "{}", content_type="application/json").status_code == 403

    def test_a_key_rotates_itself_and_what_it_made_and_no_other(self, cast: Cast) -> None:
        """The new secret of another key would let it do more, or for longer."""
        maker, secret = create_key(cast.alice, "maker", scopes=["admin", "read"])
        made, _ = create_key(cast.alice, "made", scopes=["read"], made_by=maker)
        wider, _ = create_key(cast.alice, "wider", scopes=["admin", "read", "write"])
        headers = {"X-API-KEY": secret}
        assert rotate_by_api(made, headers).status_code == 200
        assert rotate_by_api(wider, headers).status_code == 403
        assert rotate_by_api(maker, headers).status_code == 200
        assert rotate_by_api(maker, headers).status_code == 403, "by the old secret"
        bobs, _ = create_key(cast.bob, "bob's")
        assert rotate_by_api(bobs, cast.headers("alice")).status_code == 404

    @pytest.mark.parametrize("overlap", [-1, 30 * 86400 + 1, "60", 1.5, None], ids=str)
    def test_bad_overlaps(self, cast: Cast, overlap: Any) -> None:
        key, secret = create_key(cast.alice, "ci", scopes=["admin", "read"])
        reply = rotate_by_api(key, {"X-API-KEY": secret}, overlap_secs=overlap)
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, "overlap_secs")

    def test_external_users_rotate_nothing(self, cast: Cast) -> None:
        key = ApiKey.objects.get(user=cast.alice)
        headers = cast.headers("alice", **{"X-External-User-Id": "x"})
        assert rotate_by_api(key, headers).status_code == 403

    def test_it_is_in_the_audit_log(self, cast: Cast) -> None:
        made = Client().post(
            API, json.dumps({"name": "ci"}), "application/json", headers=cast.headers("alice")
        )
        id = made.json()["id"]
        own = ApiKey.objects.get(user=cast.alice, name="alice's key")
        rotate_by_api(own, cast.headers("alice"), overlap_secs=60)
        Client().delete(f"{API}/{id}", headers=cast.headers("alice"))
        entries = AuditEntry.unscoped.order_by("pk").values_list("action", "target_id", "user", "key_id")
        assert list(entries) == [
            (AuditAction.KEY_CREATED, id, cast.alice.pk, own.pk),
            (AuditAction.KEY_ROTATED, str(own.pk), cast.alice.pk, own.pk),
            (AuditAction.KEY_REVOKED, id, cast.alice.pk, own.pk),
        ]


def key_end(key: ApiKey) -> Any:
    key.refresh_from_db()
    return key.old_secret_until


class TestPepper:
    def test_a_new_secret_key_voids_no_key(self, cast: Cast, settings: Settings) -> None:
        """Digests were made with SECRET_KEY: rotating that ended every program's access."""
        _, secret = create_key(cast.alice, "ci")
        settings.SECRET_KEY = "another"
        assert works(secret)

    def test_a_key_of_the_first_release_works_on(self, cast: Cast, settings: Settings) -> None:
        key, secret = create_key(cast.alice, "ci")
        digest = made_with(settings.SECRET_KEY, secret)
        ApiKey.objects.filter(pk=key.pk).update(digest=digest)
        assert works(secret)
        settings.SECRET_KEY = "another"
        assert works(secret), "its digest was rewritten at its first use"

    def test_a_key_that_was_not_used_needs_the_old_secret_key(self, cast: Cast, settings: Settings) -> None:
        key, secret = create_key(cast.alice, "ci")
        ApiKey.objects.filter(pk=key.pk).update(digest=made_with(settings.SECRET_KEY, secret))
        new = rotate(key, DAY)
        earlier, settings.SECRET_KEY = settings.SECRET_KEY, "another"
        assert (works(secret), works(new)) == (False, True)
        settings.SECRET_KEY_FALLBACKS = [earlier]
        assert (works(secret), works(new)) == (True, True)
        settings.SECRET_KEY_FALLBACKS = []
        assert (works(secret), works(new)) == (True, True)

    def test_without_the_pepper_every_key_is_unknown(self, cast: Cast, settings: Settings) -> None:
        _, secret = create_key(cast.alice, "ci")
        settings.KEY_PEPPER = "lost"
        assert not works(secret)

    def test_it_is_made_once_and_only_its_owner_reads_it(self, tmp_path: Path) -> None:
        environment = {"DATA_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
        code = "from locus import settings; print(settings.KEY_PEPPER, settings.SECRET_KEY)"
        together = [
            subprocess.Popen(
                [sys.executable, "-c", code], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
            )
            for _ in range(3)
        ]
        seen = {process.communicate()[0] for process in together}
        assert len(seen) == 1, "several processes that start at once agree"
        pepper, secret_key = seen.pop().split()
        assert pepper != secret_key
        path = tmp_path / "key_pepper"
        assert (path.read_text(), path.stat().st_mode & 0o777) == (pepper, 0o600)
        names = {each.name for each in tmp_path.iterdir()}
        assert names == {"encryption_key", "key_pepper", "languages", "secret_key", "uploads"}

    def test_the_environment_goes_before_the_file(self, tmp_path: Path) -> None:
        environment = {"DATA_DIR": str(tmp_path), "KEY_PEPPER": "given", "PATH": "/usr/bin:/bin"}
        code = "from locus import settings; print(settings.KEY_PEPPER)"
        run = [sys.executable, "-c", code]
        shown = subprocess.run(run, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        assert shown.stdout == "given\n"
        assert not (tmp_path / "key_pepper").exists()


def made_with(secret_key: str, token: str) -> str:
    """Return the digest of the first release."""
    assert secret_key != django_settings.KEY_PEPPER
    return hmac.new(secret_key.encode(), token.encode(), hashlib.sha256).hexdigest()
