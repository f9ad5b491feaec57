"""Detects a file's kind from its bytes.

People choose the name, and attackers do. So it decides nothing but which kind of plain text a text is.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from extract.archives import CUT_OFF, entries
from extract.errors import NO_UNLOCKING, Corrupted, Empty, Encrypted, UnsupportedType
from extract.frame_sniffing import kind_of_frames
from extract.text_sniffing import sniff_text

LOOKED_AT = 64 * 2**10
PDF_HEADER_WITHIN = 1024
# Control characters that no text file has. NUL is common in UTF-16, which its byte order mark identifies.
BINARY = bytes([*range(8), 14, *range(16, 27), *range(28, 32), 127])
# Of UTF-16 without a mark: so many characters, this share of them Latin, hardly any with two zero bytes.
FEWEST_PAIRS, ZEROS_SHARE, STRAY_SHARE = 8, 0.4, 0.02
UNICODE_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"\xef\xbb\xbf": "utf-8-sig",
}

ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MAGIC = {
    b"{\\rtf": "rtf",
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpg",
    b"II*\x00": "tiff",
    b"MM\x00*": "tiff",
    b"II+\x00": "tiff",
    b"MM\x00+": "tiff",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
    b"\x00\x00\x00\x0cjP  \r\n\x87\n": "jp2",
    b"\xff\x4f\xff\x51": "jp2",
    b"fLaC": "flac",
    b"ID3": "mp3",
    b"caff": "caf",
    b".snd": "au",
    b"#!AMR": "amr",
    b"riff\x2e\x91\xcf\x11": "wav",
    b"\x00\x00\x01\xba": "mpg",
}
ASF = b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"
ASF_VIDEO = b"\xc0\xef\x19\xbc\x4d\x5b\xcf\x11"
TRANSPORT_PACKET = 188
# Recordings that we can't read, by their first bytes.
OTHER_RECORDINGS = (
    b"FLV\x01",
    b".RMF",
    b".ra\xfd",
    b"wvpk",
    b"MAC ",
    b"TTA1",
    b"MPCK",
    b"Creative Voice File",
)

PACKED = {
    b"\x1f\x8b": "gzip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!": "RAR",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
}
HEIF_BRANDS = frozenset({b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"})
QUICKTIME_ATOMS = frozenset({b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"})
OOXML = {"word/": "docx", "ppt/": "pptx", "xl/": "xlsx"}
ZIP_MIME_TYPES = {
    "application/epub+zip": "epub",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
}

ARCHIVE = "This is a {} archive. Unpack it and upload the files in it."
# Members of the files of Pages, Numbers and Keynote, since 2013 and before.
IWORK = ("Index/Document.iwa", "Index.zip", "index.apxl", "index.apxl.gz", "buildVersionHistory.plist")
EXPORT_AS_PDF = "This is a file of Apple Pages, Numbers or Keynote. Export it there as PDF and upload that."
OTHER_RECORDING = "This kind of recording can't be read. Convert it to MP3, M4A, WAV or MP4 and upload that."


def sniff(path: Path, promised: str | None = None) -> str:
    """Return the file's kind, a key of `kinds.KINDS`; raise a `DocumentError` for an unknown kind.

    `promised` is the kind that the file's name promises (`kinds.promised_type`).
    """
    with path.open("rb") as file:
        head = file.read(LOOKED_AT)
    if not head:
        raise Empty
    # PDF readers accept junk before the header, which mail gateways and web servers sometimes add.
    if b"%PDF-" in head[:PDF_HEADER_WITHIN]:
        return "pdf"
    if head.startswith(ZIP):
        return _zip_kind(path)
    if head.startswith(OLE):
        return _ole_kind(path)
    if kind := _by_magic(head):
        return kind
    return sniff_text(_as_text(head), promised, is_whole=len(head) < LOOKED_AT)


def _by_magic(head: bytes) -> str | None:
    if packed := next((name for mark, name in PACKED.items() if head.startswith(mark)), None):
        raise UnsupportedType(ARCHIVE.format(packed))
    if head.startswith(OTHER_RECORDINGS):
        raise UnsupportedType(OTHER_RECORDING)
    by_start = next((kind for mark, kind in MAGIC.items() if head.startswith(mark)), None)
    return by_start or _chunked(head) or _iso_media(head) or _stream(head) or _bitmap(head) or _frames(head)


def _chunked(head: bytes) -> str | None:
    """Return the kind of a file of chunks with names and lengths."""
    if head[:4] in (b"RIFF", b"RF64", b"RIFX", b"BW64"):
        return {b"WAVE": "wav", b"WEBP": "webp", b"AVI ": "avi"}.get(head[8:12])
    if head[:4] == b"FORM":
        return {b"AIFF": "aiff", b"AIFC": "aiff"}.get(head[8:12])
    if head.startswith(ASF):
        return "wmv" if ASF_VIDEO in head else "wma"
    return None


def _iso_media(head: bytes) -> str | None:
    """Return the kind of MP4 and related files: boxes with a length before their name."""
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        if brand in HEIF_BRANDS:
            return "heic"
        if brand in (b"avif", b"avis"):
            raise UnsupportedType(
                "AVIF pictures can't be read yet. Convert it to PNG or JPEG and upload that."
            )
        if brand[:3] in (b"3gp", b"3g2", b"3ge"):
            return "3gp"
        return {b"M4A ": "m4a", b"M4B ": "m4a", b"M4P ": "m4a", b"qt  ": "mov"}.get(brand, "mp4")
    return "mov" if head[4:8] in QUICKTIME_ATOMS and head[:2] == b"\0\0" else None


def _stream(head: bytes) -> str | None:
    if head.startswith(b"OggS"):
        return "opus" if b"OpusHead" in head[:128] else "ogg"
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "webm" if b"webm" in head[:128] else "mkv"
    packets = head[::TRANSPORT_PACKET][:4]
    return "mpg" if packets == b"GGGG" else None


def _bitmap(head: bytes) -> str | None:
    return "bmp" if head.startswith(b"BM") and head[6:10] == b"\0\0\0\0" else None


def _frames(head: bytes) -> str | None:
    """Return the kind of sound without a header; text, even UTF-16 with its mark, has no such frames."""
    if head.startswith(tuple(UNICODE_MARKS)):
        return None
    return kind_of_frames(head)


def _as_text(head: bytes) -> str:
    """Return the head as text, good enough to recognise its syntax; raise `UnsupportedType` if it is not
    text."""
    if encoding := encoding_of(head):
        return head.decode(encoding, "ignore")
    if head.translate(None, BINARY) != head:
        raise UnsupportedType
    return head.decode("utf-8", "replace")


def encoding_of(content: bytes) -> str | None:
    """Return the encoding that a byte order mark names, or that of UTF-16 without a mark; None for others."""
    marked = next((name for mark, name in UNICODE_MARKS.items() if content.startswith(mark)), None)
    return marked or _unmarked_utf16(content[:LOOKED_AT])


def _unmarked_utf16(head: bytes) -> str | None:
    """Return the byte order of a text whose every second byte is zero, as in most scripts' UTF-16."""
    pairs = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if pairs < FEWEST_PAIRS or max(even, odd) < ZEROS_SHARE * pairs or min(even, odd) > STRAY_SHARE * pairs:
        return None
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    text = head[: 2 * pairs].decode(encoding, "ignore")
    # Tables of small numbers look alike, but are full of control characters.
    controls = sum(not (char.isprintable() or char.isspace()) for char in text)
    return encoding if controls <= STRAY_SHARE * pairs else None


# --- Containers --------------------------------------------------------------------------------------------


def _zip_kind(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [member.filename for member in entries(archive)]
            kind = _declared_kind(archive, names) or _ooxml_kind(names)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
        raise Corrupted(CUT_OFF) from error
    if kind is None and any(name.endswith(IWORK) for name in names):
        raise UnsupportedType(EXPORT_AS_PDF)
    if kind is None:
        raise UnsupportedType(ARCHIVE.format("zip"))
    return kind


def _declared_kind(archive: zipfile.ZipFile, names: list[str]) -> str | None:
    """Return the contents of the member `mimetype`, the first of e-books and OpenDocument files."""
    if "mimetype" not in names or archive.getinfo("mimetype").file_size > 200:
        return "epub" if "META-INF/container.xml" in names else None
    if archive.getinfo("mimetype").flag_bits & 0x1:
        raise Encrypted(NO_UNLOCKING)
    declared = archive.read("mimetype").decode("ascii", "replace").strip()
    # Templates are documents, too.
    return ZIP_MIME_TYPES.get(declared.removesuffix("-template"))


def _ooxml_kind(names: list[str]) -> str | None:
    if "[Content_Types].xml" not in names:
        return None
    if "xl/workbook.bin" in names:
        return "xlsb"
    return next((kind for name in names for folder, kind in OOXML.items() if name.startswith(folder)), None)


def _ole_kind(path: Path) -> str:
    import olefile

    try:
        with olefile.OleFileIO(str(path)) as ole:
            streams = {entry[0] for entry in ole.listdir()}
    except (OSError, ValueError, IndexError, TypeError, RecursionError) as error:
        raise Corrupted from error
    if streams & {"EncryptedPackage", "EncryptionInfo"}:
        raise Encrypted
    if "__properties_version1.0" in streams:
        return "msg"
    if streams & {"Workbook", "Book"}:
        return "xls"
    if "WordDocument" in streams:
        return "doc"
    if "PowerPoint Document" in streams:
        return "ppt"
    raise UnsupportedType
