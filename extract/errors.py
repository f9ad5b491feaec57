"""Why a document can't be ingested: the error codes of contract §4.

All of them are permanent: trying the same file again would end the same way. What may pass by itself
(a lost database connection) is no `IngestionError`; `ingestion.jobs.Retries` decides what is tried again.
"""

from __future__ import annotations

from typing import ClassVar


class IngestionError(Exception):
    """A document fails with a code that callers may rely on; its message says what to do next."""

    code: ClassVar[str]
    default_message: ClassVar[str]

    def __init__(self, message: str | None = None) -> None:
        self.message = message or self.default_message
        super().__init__(self.message)


class UnsupportedType(IngestionError):
    """The content is of no kind we read, whatever the file is called."""

    code = "unsupported_type"
    default_message = "This kind of file can't be read yet. Convert it to PDF or plain text and upload that."


class Empty(IngestionError):
    """The file has no bytes, or nothing but white space."""

    code = "empty"
    default_message = "The file is empty. Check it on your computer and upload it again."


class Encrypted(IngestionError):
    """The file opens only with a password."""

    code = "encrypted"
    default_message = "The file is protected by a password. Remove the password and upload it again."


class Corrupted(IngestionError):
    """The file is cut off or damaged beyond repair."""

    code = "corrupted"
    default_message = "The file is damaged or incomplete. Open and save it again, then upload it once more."


class FileTooLarge(IngestionError):
    """Something in the file is larger than we accept."""

    code = "too_large"
    default_message = "The file is too large. Split it and upload the parts."


class TooManyPages(IngestionError):
    """The document has more pages than `MAX_PAGES`."""

    code = "too_many_pages"
    default_message = "The document has too many pages. Split it and upload the parts."


class NoText(IngestionError):
    """There are pages, but no text on them."""

    code = "no_text"
    default_message = (
        "No text was found, and none was recognised in its pictures. If there is some, scan it with more "
        "contrast or a higher resolution."
    )


class BlockedUrl(IngestionError):
    """The URL does not lead to the public web: see `core.fetch`."""

    code = "blocked_url"
    default_message = "This address may not be fetched. Save the page and upload the file instead."


class UnreachableUrl(IngestionError):
    """Nobody answered at the URL, or not in time, or with an error."""

    code = "unreachable_url"
    default_message = "The address could not be reached. Check it in a browser and try again."


class ExtractionTimeout(IngestionError):
    """Reading took longer than `EXTRACTION_TIMEOUT_SECS`."""

    code = "timeout"
    default_message = "Reading the file took too long and was stopped. Split it and upload the parts."


class OutOfMemory(IngestionError):
    """Reading needed more than `EXTRACTION_MEMORY_BYTES`."""

    code = "out_of_memory"
    default_message = "Reading the file needs more memory than allowed. Split it and upload the parts."


class Internal(IngestionError):
    """Our fault."""

    code = "internal"
    default_message = "Something went wrong on our side. Try again, and tell us if it fails again."


BY_CODE: dict[str, type[IngestionError]] = {error.code: error for error in IngestionError.__subclasses__()}
