"""What `POST documents` is sent: files and addresses as a form, or a text or JSON value as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self
from uuid import UUID

from django.conf import settings
from django.core.exceptions import TooManyFilesSent
from django.core.files.base import ContentFile, File
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    WithJsonSchema,
    model_validator,
)
from rest_framework.parsers import BaseParser, FileUploadParser, MultiPartParser

from accounts.access.identity import AskerFields
from accounts.principal import Principal
from core.api.rest import json_param
from core.api.validation import ApiModel, without_nulls
from core.errors import Conflict, TooLarge, ValidationError
from core.fetch import InvalidUrl, web_url
from core.text.storable import is_storable
from core.text.visible_text import one_line
from kb.api.limits import refuse_too_many, too_many
from kb.collections import collection_to_fill
from kb.documents import MAX_EXTERNAL_ID, MAX_NAME, Details, sha256_of
from kb.metadata import checked_metadata

MAX_TAG, MAX_TAGS = 100, 100
MAX_PASSWORD = 500
NAMELESS = "file"


class UploadParser(MultiPartParser):
    """A form with files."""

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        """Return the form, or raise `ValidationError` for too many files."""
        try:
            return super().parse(*args, **kwargs)
        except TooManyFilesSent:
            raise too_many("files", settings.MAX_FILES_PER_REQUEST) from None


class NoUploadParser(BaseParser):
    """A body that is neither a form nor JSON."""

    media_type = "*/*"

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        """Raise `ValidationError`."""
        raise ValidationError("Send the files as multipart/form-data, or a text as JSON.", param="files")


class RawFileParser(FileUploadParser):
    """A body that is the file itself; its name comes with `Content-Disposition`, or not at all."""

    def get_filename(self, stream: Any, media_type: Any, parser_context: Any) -> str:
        """Return the name; a file without one is called “file” until it is known whose it is."""
        return super().get_filename(stream, media_type, parser_context) or NAMELESS


def checked_file(file: Any) -> File[bytes]:
    """Return a file that was sent, or raise `ValueError` or `TooLarge`."""
    if not isinstance(file, File) or not is_storable(file.name or ""):
        raise ValueError("must be a file whose name can be stored")
    if (file.size or 0) > settings.MAX_UPLOAD_BYTES:
        raise TooLarge(f"“{file.name}” is larger than {settings.MAX_UPLOAD_BYTES // 2**20} MiB.")
    return file


def checked_tags(given: Sequence[str]) -> list[str]:
    """Return the tags as they are stored, each once; raise `ValidationError` for too many or too long."""
    tags = list(dict.fromkeys(filter(None, map(one_line, given))))
    if len(tags) > MAX_TAGS or any(len(tag) > MAX_TAG for tag in tags):
        raise ValidationError(f"At most {MAX_TAGS} tags of at most {MAX_TAG} characters.", param="tags")
    return tags


def _visible(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise ValueError("must have visible characters alone")
    return value


def _url(value: str) -> str:
    try:
        web_url(value)
    except InvalidUrl as error:
        raise ValueError(error.message.removesuffix(".")) from None
    return value


SentFile = Annotated[
    Any,
    AfterValidator(checked_file),
    WithJsonSchema({"type": "string", "contentMediaType": "application/octet-stream"}),
]
WebAddress = Annotated[str, AfterValidator(_url), WithJsonSchema({"type": "string", "format": "uri"})]
Tags = Annotated[list[str], AfterValidator(checked_tags)]
Metadata = Annotated[dict[str, Any], AfterValidator(checked_metadata)]
ExternalId = Annotated[str, Field(min_length=1, max_length=MAX_EXTERNAL_ID), AfterValidator(_visible)]
Password = Annotated[
    str, Field(min_length=1, max_length=MAX_PASSWORD, json_schema_extra={"format": "password"})
]
Language = Annotated[str, Field(pattern="^[A-Za-z]{2}$"), AfterValidator(str.lower)]
# Forms of web pages send fields that nobody filled in.
MAY_BE_BLANK = frozenset({"workspace_id", "session_id", "collection_id", "language", "password"})


class NewDocuments(AskerFields):
    """What is said of new documents, and for whom they are added."""

    workspace_id: UUID | None = None
    session_id: UUID | None = Field(None, description="Attach them to it.")
    collection_id: UUID | None = Field(None, description="Put them into this collection of the workspace.")
    external_id: ExternalId | None = Field(
        None,
        description="Your own id for the one file or URL; no other document of its place may have it.",
    )
    metadata: Metadata | None = None
    tags: Tags | None = None
    language: Language | None = Field(None, description="ISO 639-1")

    def details(self, principal: Principal) -> Details:
        """Return what is said of the documents; raise `NotFound`, `Forbidden` or `Conflict`."""
        workspace_id, collection = self.workspace_id or principal.default_workspace_id(), None
        if self.collection_id is not None:
            collection = collection_to_fill(principal, self.collection_id)
            place = (collection.workspace_id, collection.external_user_id, collection.session_id)
            if place != (workspace_id, principal.external_user_id, principal.session_id):
                raise Conflict("The collection is in another workspace.", param="collection_id")
        return Details(
            collection=collection,
            workspace_id=workspace_id,
            tags=self.tags or [],
            metadata=self.metadata or {},
            language=self.language,
            external_id=self.external_id,
        )


class NewFiles(NewDocuments):
    """Files and web pages: at least one."""

    model_config = ConfigDict(json_schema_extra=without_nulls)

    files: list[SentFile] = Field(default_factory=list)
    urls: list[WebAddress] = Field(default_factory=list)
    unpack: bool = Field(
        False,
        description="Make each file of a .zip a document of its own, tagged with its folder there.",
    )
    password: Password | None = Field(
        None,
        description="Opens the files, or the archive, that are protected by it; it is stored nowhere.",
    )
    metadata: Annotated[
        Metadata,
        BeforeValidator(lambda text: json_param("metadata", text)),
        WithJsonSchema({"type": "string", "contentMediaType": "application/json"}),
    ] = Field(default_factory=dict)
    tags: Annotated[
        Tags, BeforeValidator(lambda given: [tag for value in given for tag in value.split(",")])
    ] = Field(default_factory=list, description="Repeated, or with commas between them.")

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in given.items() if value or name not in MAY_BE_BLANK}

    @model_validator(mode="after")
    def _check_count(self) -> Self:
        refuse_too_many(self.files, self.urls)
        if not self.files and not self.urls:
            raise ValidationError("Send at least one file or URL.", param="files")
        if self.external_id is not None and (self.unpack or len(self.files) + len(self.urls) > 1):
            raise ValidationError(
                "An external_id names one document: send one file or URL.", param="external_id"
            )
        return self


class NewText(NewDocuments):
    """A document without a file: `text`, or any `json`."""

    urls: ClassVar[Sequence[str]] = ()
    unpack: ClassVar[bool] = False
    password: ClassVar[str | None] = None

    text: str | None = Field(None, description="Plain text or Markdown.")
    json_: Any = Field(None, alias="json", description="Any JSON value; stored as a JSON file.")
    name: str | None = Field(None, min_length=1, max_length=MAX_NAME)

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.text is not None) == ("json_" in self.model_fields_set):
            raise ValidationError("Send text or json, one of them.", param="text")
        checked_file(self.files[0])
        return self

    @cached_property
    def files(self) -> list[File[bytes]]:
        """The text or JSON value as a file."""
        if self.text is not None:
            return [ContentFile(self.text.encode(), name=self.name or "text.txt")]
        try:
            content = json.dumps(self.json_, ensure_ascii=False, indent=2, allow_nan=False)
        except ValueError:
            raise ValidationError("json has a number that is too large.", param="json") from None
        return [ContentFile(content.encode(), name=self.name or "data.json")]


class Replacement(ApiModel):
    """The new content of a document."""

    file: SentFile


def fingerprint(body: NewFiles | NewText) -> JsonValue:
    """Return what makes it the same upload: the fields, and the names and digests of the files."""
    fields = body.model_dump(mode="json", exclude={"files", "password"}, exclude_unset=True)
    return [fields, [[file.name, sha256_of(file)] for file in body.files]]
