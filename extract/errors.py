"""Why a file can't be read: the errors of extractors, with the codes of contract §4."""

from __future__ import annotations

from core.errors import DocumentError

NO_UNLOCKING = "The file is protected in a way that can't be opened. Remove the password and upload it again."


class UnsupportedType(DocumentError):
    """The content is of no kind that we read; the file's name does not matter."""

    code = "unsupported_type"
    default_message = "This kind of file can't be read yet. Convert it to PDF or plain text and upload that."


class Empty(DocumentError):
    """The file has no bytes, or nothing but white space."""

    code = "empty"
    default_message = "The file is empty. Check it on your computer and upload it again."


class Encrypted(DocumentError):
    """The file opens only with a password."""

    code = "encrypted"
    default_message = "The file is protected by a password. Enter it, or remove it and upload the file again."


class Corrupted(DocumentError):
    """The file is cut off or damaged beyond repair."""

    code = "corrupted"
    default_message = "The file is damaged or incomplete. Open and save it again, then upload it once more."


class FileTooLarge(DocumentError):
    """Something in the file is larger than we accept."""

    code = "too_large"
    default_message = "The file is too large. Split it and upload the parts."


class TooManyPages(DocumentError):
    """The document has more pages than `MAX_PAGES`."""

    code = "too_many_pages"
    default_message = "The document has too many pages. Split it and upload the parts."


class NoText(DocumentError):
    """There are pages, but no text on them."""

    code = "no_text"
    default_message = (
        "No text was found, and none was recognised in its pictures. If there is some, scan it with more "
        "contrast or a higher resolution."
    )


class ExtractionTimeout(DocumentError):
    """Reading took longer than `EXTRACTION_TIMEOUT_SECS`."""

    code = "timeout"
    default_message = "Reading the file took too long and was stopped. Split it and upload the parts."


class OutOfMemory(DocumentError):
    """Reading needed more than `EXTRACTION_MEMORY_BYTES`."""

    code = "out_of_memory"
    default_message = "Reading the file needs more memory than allowed. Split it and upload the parts."


class Internal(DocumentError):
    """A defect of ours."""

    code = "internal"
    default_message = (
        "Something went wrong on our side. Try again. If it fails again, ask your administrator."
    )


BY_CODE = {
    error.code: error
    for error in (
        UnsupportedType,
        Empty,
        Encrypted,
        Corrupted,
        FileTooLarge,
        TooManyPages,
        NoText,
        ExtractionTimeout,
        OutOfMemory,
        Internal,
    )
}
