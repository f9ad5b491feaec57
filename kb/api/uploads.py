"""What `POST documents` is sent: files and addresses as a form, or a text or JSON value as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import TooManyFilesSent
from django.core.files.base import ContentFile, File
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from pydantic import JsonValue
from rest_framework.parsers import FileUploadParser
from rest_framework.request import Request

from accounts.access.auth import parsed_session_id, principal_of
from accounts.access.identity import in_session
from accounts.principal import Principal
from core.api.rest import json_param, refuse_unclean, uuid_param
from core.api.validation import validated
from core.errors import TooLarge, UnknownField, ValidationError
from core.fetch import InvalidUrl, web_url
from core.text.visible_text import one_line
from kb.api.limits import refuse_too_many, too_many
from kb.api.schemas import NewText
from kb.documents import MAX_EXTERNAL_ID, Details, sha256_of
from kb.metadata import checked_metadata

MAX_TAG, MAX_TAGS = 100, 100
NAMELESS = "file"
FILE_FIELDS, URL_FIELDS = frozenset({"files", "files[]"}), frozenset({"urls", "urls[]"})
UPLOAD_FIELDS = (
    FILE_FIELDS
    | URL_FIELDS
    | {"workspace_id", "session_id", "external_user_id", "external_id", "metadata", "tags", "language"}
)

UPLOAD_SCHEMA = {
    "type": "object",
    "description": "At least one file or URL.",
    "properties": {
        "files": {
            "type": "array",
            "items": {"type": "string", "contentMediaType": "application/octet-stream"},
        },
        "urls": {"type": "array", "items": {"type": "string", "format": "uri"}},
        "workspace_id": {"type": "string", "format": "uuid"},
        "session_id": {"type": "string", "format": "uuid"},
        "external_user_id": {"type": "string", "minLength": 1, "maxLength": 255},
        "external_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_EXTERNAL_ID,
            "description": "Your own id for the one file or URL; no other document of its place may have it.",
        },
        "metadata": {"type": "string", "contentMediaType": "application/json"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "language": {"type": "string", "description": "ISO 639-1"},
    },
    "additionalProperties": False,
}


REPLACEMENT_SCHEMA = {
    "type": "object",
    "properties": {"file": {"type": "string", "contentMediaType": "application/octet-stream"}},
    "required": ["file"],
    "additionalProperties": False,
}


class RawFileParser(FileUploadParser):
    """A body that is the file itself; its name comes with `Content-Disposition`, or not at all."""

    def get_filename(self, stream: Any, media_type: Any, parser_context: Any) -> str:
        """Return the name; a file without one is called “file” until it is known whose it is."""
        return super().get_filename(stream, media_type, parser_context) or NAMELESS


@dataclass(frozen=True, slots=True)
class UploadRequest:
    """What is to be added, for whom, and what is said of it."""

    principal: Principal
    files: Sequence[File[bytes]]
    urls: Sequence[str]
    details: Details
    fields: JsonValue
    """What else makes it the same request."""

    def fingerprint(self) -> JsonValue:
        """Return what makes it the same upload: the fields, and the names and digests of the files."""
        return [self.fields, [[file.name, sha256_of(file)] for file in self.files]]


def read_upload(request: Request) -> UploadRequest:
    """Return what a request adds; raise for a field that is unknown or wrong, and if it adds nothing."""
    if (request.content_type or "").startswith("application/json"):
        return _from_json(principal_of(request), request.data)
    if request.content_type and not is_form(request):
        raise ValidationError("Send the files as multipart/form-data, or a text as JSON.", param="files")
    try:
        data = request.data
    except TooManyFilesSent:
        raise too_many("files", settings.MAX_FILES_PER_REQUEST) from None
    # Without a body there is no form.
    form = data if isinstance(data, QueryDict) else QueryDict()
    return _from_form(principal_of(request), form, request.FILES)


def read_replacement(request: Request) -> tuple[File[bytes], str | None]:
    """Return the file that is to be a document's content, and its name if it has one."""
    form, files = request.data, request.FILES
    names = [*(form if isinstance(form, QueryDict) else ()), *files]
    for name in names:
        if name != "file":
            raise UnknownField(f"Unknown field “{name}”.", param=name)
    given = files.getlist("file") if isinstance(files, MultiValueDict) else list(files.values())
    if len(given) != 1:
        raise ValidationError("Send one file.", param="file")
    refuse_unclean(given[0].name, "file")
    is_nameless = given[0].name == NAMELESS and not is_form(request)
    return checked_size(given[0]), None if is_nameless else given[0].name


def is_form(request: Request) -> bool:
    """Whether a request's body is a form that may hold files."""
    return (request.content_type or "").startswith("multipart/form-data")


def checked_size(file: File[bytes]) -> File[bytes]:
    """Return the file, or raise `TooLarge`."""
    if (file.size or 0) > settings.MAX_UPLOAD_BYTES:
        raise TooLarge(f"“{file.name}” is larger than {settings.MAX_UPLOAD_BYTES // 2**20} MiB.")
    return file


def _from_form(principal: Principal, form: QueryDict, given: Any) -> UploadRequest:
    _check_fields(form)
    principal = _speaking_for(principal, form.get("external_user_id"), form.get("session_id"))
    files = given.getlist("files") + given.getlist("files[]")
    named = form.getlist("urls") + form.getlist("urls[]")
    refuse_too_many(files, named)
    urls = _urls(named)
    if not files and not urls:
        raise ValidationError("Send at least one file or URL.", param="files")
    for file in files:
        refuse_unclean(checked_size(file).name, "files")
    if "external_id" in form and len(files) + len(urls) > 1:
        raise ValidationError("An external_id names one document: send one file or URL.", param="external_id")
    workspace_id = form.get("workspace_id")
    details = Details(
        workspace_id=(
            uuid_param("workspace_id", workspace_id) if workspace_id else principal.default_workspace_id()
        ),
        tags=checked_tags([tag for value in form.getlist("tags") for tag in value.split(",")]),
        metadata=checked_metadata(json_param("metadata", form.get("metadata", "{}"))),
        language=_language(form.get("language")),
        external_id=checked_external_id(form.get("external_id")),
    )
    fields: Any = {name: form.getlist(name) for name in form if name not in FILE_FIELDS}
    return UploadRequest(principal, files, urls, details, fields)


def _from_json(principal: Principal, body: Any) -> UploadRequest:
    given = validated(NewText, body)
    session_id = str(given.session_id) if given.session_id else None
    principal = _speaking_for(principal, given.external_user_id, session_id)
    details = Details(
        workspace_id=given.workspace_id or principal.default_workspace_id(),
        tags=checked_tags(given.tags or []),
        metadata=checked_metadata(given.metadata or {}),
        language=_language(given.language),
        external_id=checked_external_id(given.external_id),
    )
    return UploadRequest(principal, [checked_size(_file_of(given))], [], details, body)


def _file_of(given: NewText) -> File[bytes]:
    """Return the text or JSON value as a file; raise `ValidationError` unless there is one of them."""
    has_text, has_json = given.text is not None, "json_" in given.model_fields_set
    if has_text == has_json:
        raise ValidationError("Send text or json, one of them.", param="text")
    if given.text is not None:
        return ContentFile(given.text.encode(), name=given.name or "text.txt")
    try:
        content = json.dumps(given.json_, ensure_ascii=False, indent=2, allow_nan=False)
    except ValueError:
        raise ValidationError("json has a number that is too large.", param="json") from None
    return ContentFile(content.encode(), name=given.name or "data.json")


def _check_fields(form: QueryDict) -> None:
    for name in form:
        if name not in UPLOAD_FIELDS:
            raise UnknownField(f"Unknown field “{name}”.", param=name)
        if name not in FILE_FIELDS | URL_FIELDS:
            for value in form.getlist(name):
                refuse_unclean(value, name)


def _speaking_for(principal: Principal, external_user_id: str | None, session_id: str | None) -> Principal:
    principal = principal.for_external_user(external_user_id)
    return in_session(principal, parsed_session_id(session_id)) if session_id else principal


def _urls(given: list[str]) -> list[str]:
    for index, url in enumerate(given):
        try:
            web_url(url)
        except InvalidUrl as error:
            raise ValidationError(error.message, param=f"urls[{index}]") from None
    return given


def checked_tags(given: Sequence[str]) -> list[str]:
    """Return the tags as they are stored, each once; raise `ValidationError` for too many or too long."""
    tags = list(dict.fromkeys(filter(None, map(one_line, given))))
    if len(tags) > MAX_TAGS or any(len(tag) > MAX_TAG for tag in tags):
        raise ValidationError(f"At most {MAX_TAGS} tags of at most {MAX_TAG} characters.", param="tags")
    return tags


def checked_external_id(value: str | None) -> str | None:
    """Return the id, or raise `ValidationError` for a blank or overlong one."""
    if value is not None and (not value.strip() or len(value) > MAX_EXTERNAL_ID or not value.isprintable()):
        raise ValidationError(
            f"external_id must be 1 to {MAX_EXTERNAL_ID} visible characters.", param="external_id"
        )
    return value


def _language(value: str | None) -> str | None:
    if value and (len(value) != 2 or not value.isascii() or not value.isalpha()):
        raise ValidationError("language must be a two-letter ISO 639-1 code.", param="language")
    return value.lower() if value else None
