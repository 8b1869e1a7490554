"""Bytes for content blocks, from memory or from a file, and their media type.

The type of an image or a recording is read from its first bytes: clients pass it on to models that refuse an
image whose bytes are of another type. The tables are our own, so that every system gives the same answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .limits import Limits

if TYPE_CHECKING:
    from pathlib import PurePath

    FilePath: TypeAlias = str | PurePath

FILE_BYTES: Final = Limits().message_bytes
"""The largest file that becomes content, unless its author allows more."""
BINARY: Final = "application/octet-stream"
# Patterns are compiled when they are first used: every server and client imports this module.
TEXTS: Final = r"text/.*|application/(json|xml|yaml|toml|javascript|sql|x-ndjson)|.*\+(json|xml)"
"""Media types whose content is sent as text, if it is UTF-8."""
FORMAT: Final = r"[a-z0-9][a-z0-9.+-]*"
_LONGEST: Final = 60

TYPES: Final = {
    **dict.fromkeys(("jpg", "jpeg", "jpe"), "image/jpeg"),
    **dict.fromkeys(("tif", "tiff"), "image/tiff"),
    **{name: f"image/{name}" for name in ("png", "gif", "webp", "bmp", "avif", "heic")},
    "svg": "image/svg+xml",
    "ico": "image/vnd.microsoft.icon",
    **{name: f"audio/{name}" for name in ("wav", "flac", "aac", "opus")},
    "mp3": "audio/mpeg",
    **dict.fromkeys(("ogg", "oga"), "audio/ogg"),
    **dict.fromkeys(("m4a", "mp4a"), "audio/mp4"),
    "weba": "audio/webm",
    **dict.fromkeys(("txt", "text", "log", "plain", "ini", "cfg", "rst"), "text/plain"),
    **dict.fromkeys(("md", "markdown"), "text/markdown"),
    **dict.fromkeys(("htm", "html"), "text/html"),
    **{name: f"text/{name}" for name in ("csv", "css", "calendar")},
    "tsv": "text/tab-separated-values",
    "ics": "text/calendar",
    "py": "text/x-python",
    **dict.fromkeys(("js", "mjs"), "text/javascript"),
    **{name: f"application/{name}" for name in ("json", "xml", "toml", "sql", "pdf", "zip", "rtf")},
    **dict.fromkeys(("yaml", "yml"), "application/yaml"),
    **dict.fromkeys(("jsonl", "ndjson"), "application/x-ndjson"),
    "gz": "application/gzip",
    "tar": "application/x-tar",
    "mp4": "video/mp4",
    "webm": "video/webm",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "parquet": "application/vnd.apache.parquet",
}
"""Media types by format, which is also the end of a file's name."""

SIGNATURES: Final = (
    (rb"\x89PNG\r\n\x1a\n", "image/png"),
    (rb"\xff\xd8\xff", "image/jpeg"),
    (rb"GIF8[79]a", "image/gif"),
    (rb"RIFF....WEBP", "image/webp"),
    (rb"II\*\0|MM\0\*", "image/tiff"),
    (rb"....ftypavi[fs]", "image/avif"),
    (rb"....ftyp(heic|heix|mif1)", "image/heic"),
    (rb"BM....\0\0\0\0", "image/bmp"),
    (rb"RIFF....WAVE", "audio/wav"),
    (rb"ID3|\xff[\xf2\xf3\xfa\xfb]", "audio/mpeg"),
    (rb"OggS", "audio/ogg"),
    (rb"fLaC", "audio/flac"),
    (rb"....ftypM4A", "audio/mp4"),
    (rb"%PDF-", "application/pdf"),
    (rb"PK\x03\x04", "application/zip"),
    (rb"\x1f\x8b", "application/gzip"),
)
"""How bytes begin, and their media type."""


def load(kind: str, data: Any, path: FilePath | None, max_bytes: int) -> bytes:
    """The bytes of a block of a kind such as `Image`.

    Raises:
        TypeError: neither or both are set, or the data is not bytes.
        ValueError: the file is too large, or not a regular file.
        OSError: the file cannot be read.
    """
    if (data is None) == (path is None):
        raise TypeError(f"{kind} needs either bytes or path=, as in {kind}(path=...)")
    if path is not None:
        return read_file(path, max_bytes)
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    raise TypeError(
        f"{kind} takes bytes, not {type(data).__qualname__}: write {kind}(path=...) for a file, decode Base64"
    )


def read_file(path: FilePath, max_bytes: int) -> bytes:
    # Imported here: few servers read files into content, and it is not cheap.
    from pathlib import Path

    file = Path(path)
    if file.exists() and not file.is_file():
        raise ValueError(f"not a regular file: {file}")
    with file.open("rb") as stream:
        data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ValueError(
            f"{file} has more than {max_bytes} bytes: return a ResourceLink, or pass a larger max_bytes="
        )
    return data


def media_type(kind: str, data: bytes, path: FilePath | None, format: str | None) -> str:
    """The media type of an `image` or `audio`: by its format, its first bytes, or the end of its name.

    Raises:
        ValueError: none of them is known.
    """
    if format is not None:
        return type_of_format(format, kind)
    for candidate in (sniff(data, kind), TYPES.get(suffix(str(path or "")), "")):
        if candidate.startswith(f"{kind}/"):
            return candidate
    source = "these bytes have" if path is None else f"{path} has"
    example = "png" if kind == "image" else "wav"
    raise ValueError(f"{source} no known {kind} format: pass it, as in format={example!r}, or mime_type=")


def type_of_format(format: str, kind: str) -> str:
    """The media type of a format such as `png` or `.png`, below `image`, `audio` or `application`."""
    name = format.lower().removeprefix(".")
    if not re.fullmatch(FORMAT, name):
        raise ValueError(
            f"a format is a name such as png, not {format[:_LONGEST]!r}; for a media type use mime_type="
        )
    known = TYPES.get(name, "")
    return known if known and kind in ("application", known.partition("/")[0]) else f"{kind}/{name}"


def type_of_file(data: bytes, name: str, format: str | None = None) -> str:
    """The media type of a file: by its format, the end of its name, or its first bytes."""
    if format is not None:
        return type_of_format(format, "application")
    return TYPES.get(suffix(name)) or sniff(data) or BINARY


def sniff(data: bytes, kind: str = "") -> str:
    """The media type by the first bytes, among those of a kind; empty if unknown."""
    start = data[:16]
    matches = (name for pattern, name in SIGNATURES if re.match(pattern, start, re.DOTALL))
    return next((name for name in matches if name.startswith(kind)), "")


def file_name(path: FilePath) -> str:
    from pathlib import Path

    return Path(path).name


def uri_of_file(name: str) -> str:
    from urllib.parse import quote

    return f"file:///{quote(name, safe='')}"


def suffix(name: str) -> str:
    """The end of a file's name, in lower case and without its dot."""
    return name.rpartition(".")[2].lower() if "." in name else ""


def as_text(data: bytes, mime_type: str) -> str | None:
    """Text content as text; None if it is of another type, or not UTF-8."""
    if not re.fullmatch(TEXTS, mime_type.partition(";")[0].strip().lower()):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
