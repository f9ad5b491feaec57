"""Files: the documents, what is uploaded, and static files."""

import sys
from typing import Any

from environs import validate

from locus.content_policy import add_static_headers
from locus.settings.django import LOCALE_PATHS
from locus.settings.environment import (
    BASE_DIR,
    DATA_DIR,
    env,
    refuse_all_but_classes,
    refuse_all_but_http,
    refuse_all_but_objects,
)

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
SERVESTATIC_ADD_HEADERS_FUNCTION = add_static_headers
# Named by their content: by Django, or by the front end's build, whose scripts import each other.
SERVESTATIC_IMMUTABLE_FILE_TEST = r"\.[0-9a-f]{12}\.|/[\w-]+-[A-Z0-9]{8}\.js$"
STATICFILES_DIRS = [
    path for path in [BASE_DIR / "frontend" / "dist", LOCALE_PATHS[0] / "static"] if path.is_dir()
]
MEDIA_ROOT = DATA_DIR / "files"
# Any class of Django's storage API that does not overwrite; paths are asked for in kb/storage.py alone.
FILE_STORAGE = env.str(
    "FILE_STORAGE", "django.core.files.storage.FileSystemStorage", validate=refuse_all_but_classes
)
FILE_STORAGE_OPTIONS: Any = env.json("FILE_STORAGE_OPTIONS", {}, validate=refuse_all_but_objects)
# `s3` takes precedence over FILE_STORAGE.
STORAGE = env.str("STORAGE", "folder", validate=validate.OneOf(["folder", "s3"]))
S3_BUCKET = env.str("S3_BUCKET", "")
S3_PREFIX = env.str("S3_PREFIX", "")
S3_ENDPOINT_URL = env.str("S3_ENDPOINT_URL", "", validate=refuse_all_but_http)
S3_REGION = env.str("S3_REGION", "us-east-1")
# Empty: as boto3 finds them, such as by the role of the machine.
S3_ACCESS_KEY_ID = env.str("S3_ACCESS_KEY_ID", "")
S3_SECRET_ACCESS_KEY = env.str("S3_SECRET_ACCESS_KEY", "")
S3_ADDRESSING = env.str("S3_ADDRESSING", "auto", validate=validate.OneOf(["auto", "path", "virtual"]))
# Whether programs that download an original file are sent to the store itself.
S3_SIGNED_DOWNLOADS = env.bool("S3_SIGNED_DOWNLOADS", False)
S3_SIGNED_SECS = env.int("S3_SIGNED_SECS", 60, validate=validate.Range(min=1, max=3600))


# Whether files are encrypted with keys that ENCRYPTION_KEY wraps (kb/encrypted_storage.py).
FILE_ENCRYPTION = env.bool("FILE_ENCRYPTION", False)


def _encrypted(storage: dict[str, Any]) -> dict[str, Any]:
    if not FILE_ENCRYPTION:
        return storage
    if S3_SIGNED_DOWNLOADS:
        sys.exit(
            "Locus can't start: S3_SIGNED_DOWNLOADS would hand out files as FILE_ENCRYPTION leaves them."
        )
    options = {"backend": storage["BACKEND"], "options": storage["OPTIONS"]}
    return {"BACKEND": "kb.encrypted_storage.EncryptedStorage", "OPTIONS": options}


def _file_storage() -> dict[str, Any]:
    if STORAGE == "folder":
        return {"BACKEND": FILE_STORAGE, "OPTIONS": FILE_STORAGE_OPTIONS}
    if not S3_BUCKET:
        sys.exit("Locus can't start: STORAGE=s3 needs the name of a bucket in S3_BUCKET.")
    from locus.s3_options import s3_options

    options = s3_options(
        bucket=S3_BUCKET,
        prefix=S3_PREFIX,
        endpoint_url=S3_ENDPOINT_URL,
        region=S3_REGION,
        keys=(S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY),
        addressing=S3_ADDRESSING,
    )
    return {"BACKEND": "kb.s3_storage.S3Storage", "OPTIONS": options}


STORAGES = {
    "default": _encrypted(_file_storage()),
    "staticfiles": {"BACKEND": "locus.static_files.StaticStorage"},
}
MAX_UPLOAD_BYTES = env.int("MAX_UPLOAD_BYTES", 500 * 2**20, validate=validate.Range(min=1))
# Images of pages are kept up to so many bytes, and for so many days after their last use.
PAGE_CACHE_BYTES = env.int("PAGE_CACHE_BYTES", 2**30, validate=validate.Range(min=0))
PAGE_CACHE_DAYS = env.float("PAGE_CACHE_DAYS", 7.0, validate=validate.Range(min=0))
MIN_FREE_DISK_BYTES = env.int("MIN_FREE_DISK_BYTES", 512 * 2**20, validate=validate.Range(min=0))
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "uploads"
FILE_UPLOAD_TEMP_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
# Django sets modes itself, whatever the umask is.
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700
# Uploads stream to disk: a large file must not live in the web server's memory.
FILE_UPLOAD_MAX_MEMORY_SIZE = 1 * 2**20
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 2**20
