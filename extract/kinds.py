"""The kinds of file that we read: name, MIME type, extensions, module that reads it, and modality."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath


class FileModality(StrEnum):
    """The modality of a document, as the contract names it."""

    TEXT = "text"
    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"


@dataclass(frozen=True, slots=True)
class FileKind:
    """One kind of file; `extensions` are lower-case with their dot, `module` has the `extract` function."""

    mime_type: str
    extensions: tuple[str, ...]
    module: str
    modality: FileModality = FileModality.TEXT


_OOXML = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"

_SOURCE_CODE = [
    ".py",
    ".pyi",
    ".js",
    ".mjs",
    ".cjs",
    ".jsx",
    ".ts",
    ".tsx",
    ".c",
    ".h",
    ".cc",
    ".cpp",
    ".hpp",
    ".cs",
    ".java",
    ".kt",
    ".scala",
    ".go",
    ".rs",
    ".rb",
    ".php",
    ".swift",
    ".m",
    ".r",
    ".jl",
    ".lua",
    ".pl",
    ".sh",
    ".bash",
    ".ps1",
    ".sql",
    ".css",
    ".scss",
    ".less",
    ".vue",
    ".svelte",
    ".dart",
    ".ex",
    ".exs",
    ".erl",
    ".hs",
    ".clj",
    ".lisp",
    ".el",
    ".vb",
    ".f90",
    ".asm",
    ".s",
    ".zig",
    ".nim",
    ".groovy",
    ".gradle",
    ".tf",
    ".proto",
    ".graphql",
    ".cmake",
    ".mk",
    ".bat",
    ".yaml",
    ".yml",
    ".toml",
    ".ini",
    ".cfg",
]


def _image(mime_type: str, *extensions: str) -> FileKind:
    return FileKind(mime_type, extensions, "extract.ocr.image", FileModality.IMAGE)


def _audio(mime_type: str, *extensions: str) -> FileKind:
    return FileKind(mime_type, extensions, "extract.media.reader", FileModality.AUDIO)


def _video(mime_type: str, *extensions: str) -> FileKind:
    return FileKind(mime_type, extensions, "extract.media.reader", FileModality.VIDEO)


def _text(mime_type: str, module: str, *extensions: str) -> FileKind:
    return FileKind(mime_type, extensions, f"extract.{module}")


KINDS: dict[str, FileKind] = {
    "pdf": _text("application/pdf", "pdf.reader", ".pdf"),
    "docx": _text(f"{_OOXML}.wordprocessingml.document", "office.docx", ".docx", ".docm", ".dotx", ".dotm"),
    "pptx": _text(f"{_OOXML}.presentationml.presentation", "office.pptx", ".pptx", ".pptm", ".ppsx", ".potx"),
    "xlsx": _text(f"{_OOXML}.spreadsheetml.sheet", "office.xlsx", ".xlsx", ".xlsm", ".xltx", ".xltm"),
    "xlsb": _text("application/vnd.ms-excel.sheet.binary.macroEnabled.12", "office.binary_sheets", ".xlsb"),
    "xls": _text("application/vnd.ms-excel", "office.binary_sheets", ".xls", ".xlt"),
    "odt": _text(f"{_ODF}.text", "office.odf", ".odt", ".ott"),
    "ods": _text(f"{_ODF}.spreadsheet", "office.odf", ".ods", ".ots"),
    "odp": _text(f"{_ODF}.presentation", "office.odf", ".odp", ".otp"),
    "doc": _text("application/msword", "office.doc", ".doc", ".dot"),
    "ppt": _text("application/vnd.ms-powerpoint", "office.ppt", ".ppt", ".pps", ".pot"),
    "rtf": _text("application/rtf", "office.rtf", ".rtf"),
    "epub": _text("application/epub+zip", "markup.epub", ".epub"),
    "html": _text("text/html", "markup.html", ".html", ".htm", ".xhtml"),
    "mhtml": _text("multipart/related", "mail.mhtml", ".mht", ".mhtml"),
    "md": _text("text/markdown", "markup.markdown", ".md", ".markdown"),
    "txt": _text("text/plain", "text.plain", ".txt", ".text", ".log"),
    "csv": _text("text/csv", "data.table", ".csv"),
    "tsv": _text("text/tab-separated-values", "data.table", ".tsv", ".tab"),
    "json": _text("application/json", "data.json", ".json", ".jsonl", ".ndjson", ".geojson"),
    "xml": _text("application/xml", "data.xml", ".xml", ".rss", ".atom", ".xsd", ".svg"),
    "eml": _text("message/rfc822", "mail.eml", ".eml"),
    "mbox": _text("application/mbox", "mail.mbox", ".mbox", ".mbx"),
    "msg": _text("application/vnd.ms-outlook", "mail.msg", ".msg"),
    "code": _text("text/x-source", "text.code", *_SOURCE_CODE),
    "png": _image("image/png", ".png"),
    "jpg": _image("image/jpeg", ".jpg", ".jpeg", ".jpe"),
    "tiff": _image("image/tiff", ".tif", ".tiff"),
    "webp": _image("image/webp", ".webp"),
    "bmp": _image("image/bmp", ".bmp"),
    "gif": _image("image/gif", ".gif"),
    "jp2": _image("image/jp2", ".jp2", ".j2k", ".jpf", ".jpx", ".jpm", ".j2c"),
    "heic": _image("image/heic", ".heic", ".heif"),
    "wav": _audio("audio/wav", ".wav"),
    "mp3": _audio("audio/mpeg", ".mp3"),
    "m4a": _audio("audio/mp4", ".m4a", ".m4b"),
    "flac": _audio("audio/flac", ".flac"),
    "ogg": _audio("audio/ogg", ".ogg", ".oga"),
    "opus": _audio("audio/opus", ".opus"),
    "webm": _video("video/webm", ".webm"),
    "mp4": _video("video/mp4", ".mp4", ".m4v"),
    "mkv": _video("video/x-matroska", ".mkv", ".mka"),
    "mov": _video("video/quicktime", ".mov", ".qt"),
    "aiff": _audio("audio/aiff", ".aiff", ".aif", ".aifc"),
    "aac": _audio("audio/aac", ".aac"),
    "caf": _audio("audio/x-caf", ".caf"),
    "au": _audio("audio/basic", ".au", ".snd"),
    "amr": _audio("audio/amr", ".amr"),
    "wma": _audio("audio/x-ms-wma", ".wma"),
    "wmv": _video("video/x-ms-wmv", ".wmv", ".asf"),
    "avi": _video("video/x-msvideo", ".avi"),
    "3gp": _video("video/3gpp", ".3gp", ".3g2"),
    "mpg": _video("video/mpeg", ".mpg", ".mpeg", ".mts", ".m2ts"),
    "subtitles": _text("text/vtt", "media.subtitles", ".vtt", ".srt", ".ass", ".ssa"),
}

WITH_PICTURES = frozenset({"pdf", "doc", "docx", "pptx", "xlsx", "odt", "ods", "odp"})
_BY_EXTENSION = {extension: name for name, kind in KINDS.items() for extension in kind.extensions}
# Within such a group the boundary between kinds is vague. A file of the other kind surprises nobody.
_ALIKE = (
    frozenset({"txt", "md", "code", "csv", "tsv", "json", "xml"}),
    frozenset({"xml", "html", "code"}),
    frozenset({"ogg", "opus"}),
    frozenset({"m4a", "mp4", "mov", "3gp"}),
    frozenset({"mp3", "aac"}),
    frozenset({"wma", "wmv"}),
    frozenset({"subtitles", "txt"}),
    frozenset({"webm", "mkv"}),
    frozenset({"eml", "txt", "mbox"}),
    frozenset({"mhtml", "html", "eml"}),
)


def promised_type(name: str) -> str | None:
    """Return the kind of file that the extension promises, None for an unknown extension."""
    return _BY_EXTENSION.get(PurePath(name.lower()).suffix)


def code_suffix(name: str) -> str | None:
    """Return the extension of a name that promises source code."""
    suffix = PurePath(name.lower()).suffix
    return suffix if suffix in KINDS["code"].extensions else None


def has_pictures(file_type: str) -> bool:
    """Return whether pictures are looked for in a kind of file, or whether it is one itself."""
    return file_type in WITH_PICTURES or KINDS[file_type].modality == FileModality.IMAGE


def is_misnamed(name: str, file_type: str) -> bool:
    """Whether the file's kind contradicts its extension."""
    promised = promised_type(name)
    if promised is None or promised == file_type:
        return False
    return not any(promised in group and file_type in group for group in _ALIKE)
