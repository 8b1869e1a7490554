"""Images, recordings and files as content: what is read, and the media type it gets."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay import Annotations, Audio, Contents, EmbeddedResource, File, Image
from assay.model.content import Block
from assay.model.media import FILE_BYTES

PNG = b"\x89PNG\r\n\x1a\n...."
JPEG = b"\xff\xd8\xff\xe0"
WAV = b"RIFF\0\0\0\0WAVEfmt "

SIGNED = [
    (Image, PNG, "image/png"),
    (Image, JPEG, "image/jpeg"),
    (Image, b"GIF89a", "image/gif"),
    (Image, b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    (Image, b"II*\0", "image/tiff"),
    (Image, b"\0\0\0\x1cftypavif", "image/avif"),
    (Audio, WAV, "audio/wav"),
    (Audio, b"ID3\x04", "audio/mpeg"),
    (Audio, b"\xff\xfb\x90", "audio/mpeg"),
    (Audio, b"OggS", "audio/ogg"),
    (Audio, b"fLaC", "audio/flac"),
]


@pytest.mark.parametrize(("kind", "data", "mime_type"), SIGNED)
def test_type_follows_from_the_first_bytes(kind: Any, data: bytes, mime_type: str) -> None:
    block = kind(data)
    assert (block.data, block.mime_type) == (data, mime_type)


@pytest.mark.parametrize(
    ("kind", "format", "mime_type"),
    [
        (Image, "png", "image/png"),
        (Image, ".JPG", "image/jpeg"),
        (Image, "svg", "image/svg+xml"),
        (Image, "x-custom", "image/x-custom"),
        (Audio, "mp3", "audio/mpeg"),
        (Audio, "wav", "audio/wav"),
        (Audio, "webm", "audio/webm"),
    ],
)
def test_format_decides_whatever_the_bytes_are(kind: Any, format: str, mime_type: str) -> None:
    assert kind(PNG, format=format).mime_type == mime_type


@pytest.mark.parametrize(
    ("kind", "name", "data", "mime_type"),
    [
        (Image, "chart.PNG", b"no signature", "image/png"),
        (Image, "renamed.png", JPEG, "image/jpeg"),
        (Image, "drawing.svg", b"<svg/>", "image/svg+xml"),
        (Audio, "talk.m4a", b"no signature", "audio/mp4"),
    ],
)
def test_file_becomes_media(kind: Any, name: str, data: bytes, mime_type: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    for path in (tmp_path / name, str(tmp_path / name)):
        block = kind(path=path)
        assert (block.data, block.mime_type) == (data, mime_type)


def test_media_take_what_they_took_before() -> None:
    hints, meta = Annotations(priority=1), {"a": 1}
    positional = Image(b"a", "image/png", hints, meta)
    assert positional == Image(data=b"a", mime_type="image/png", annotations=hints, meta=meta)
    assert (positional.annotations, positional.meta) == (hints, meta)
    assert Audio(bytearray(b"a"), "audio/wav").data == b"a"


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (Image, TypeError, r"Image needs either bytes or path=, as in Image\(path=...\)"),
        (lambda: Image(PNG, path="a.png"), TypeError, "needs either bytes or path="),
        (lambda: Image("chart.png"), TypeError, r"takes bytes, not str: write Image\(path=...\) for a file"),
        (lambda: Image(Path("chart.png")), TypeError, r"write Image\(path=...\)"),
        (lambda: Image(b"what is it"), ValueError, "no known image format: pass it, as in format='png'"),
        (lambda: Image(WAV), ValueError, "no known image format"),
        (lambda: Audio(PNG), ValueError, "no known audio format: pass it, as in format='wav'"),
        (lambda: Image(PNG, "image/png", format="png"), TypeError, "mime_type or format, not both"),
        (lambda: Image(PNG, format="image/png"), ValueError, "for a media type use mime_type="),
        (lambda: Image(PNG, format="a\r\nb"), ValueError, "a format is a name such as png"),
        (lambda: Image(path="no/such/file.png"), FileNotFoundError, "no/such/file.png"),
        (lambda: Image(path="."), ValueError, "not a regular file"),
        (lambda: Image(path="/dev/zero"), ValueError, "not a regular file"),
        (File, TypeError, "File needs either bytes or path="),
        (lambda: File("report.pdf"), TypeError, r"write File\(path=...\) for a file"),
        (lambda: File(b"", mime_type="a/b", format="csv"), TypeError, "mime_type or format, not both"),
    ],
)
def test_mistake_names_its_fix(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize("kind", [Image, Audio, File])
def test_file_over_the_limit_is_not_read_whole(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    with path.open("wb") as file:
        os.truncate(file.fileno(), 10 * FILE_BYTES)
    with pytest.raises(
        ValueError, match=rf"has more than {FILE_BYTES} bytes: return a ResourceLink, or pass"
    ):
        kind(path=path)
    path.write_bytes(PNG)
    with pytest.raises(ValueError, match="max_bytes="):
        kind(path=path, max_bytes=len(PNG) - 1)
    assert kind(path=path, max_bytes=len(PNG), format="png")


@pytest.mark.parametrize(
    ("data", "options", "contents"),
    [
        (b"a,b\n", {"name": "t.csv"}, Contents("file:///t.csv", text="a,b\n", mime_type="text/csv")),
        (b"{}", {"name": "t.json"}, Contents("file:///t.json", text="{}", mime_type="application/json")),
        (b"{}", {"format": "json"}, Contents("file:///file", text="{}", mime_type="application/json")),
        (
            b"<a/>",
            {"mime_type": "application/atom+xml; charset=utf-8"},
            Contents("file:///file", text="<a/>", mime_type="application/atom+xml; charset=utf-8"),
        ),
        (b"\xff", {"name": "t.txt"}, Contents("file:///t.txt", blob=b"\xff", mime_type="text/plain")),
        (b"%PDF-1.7", {}, Contents("file:///file", blob=b"%PDF-1.7", mime_type="application/pdf")),
        (b"?", {}, Contents("file:///file", blob=b"?", mime_type="application/octet-stream")),
        (
            b"PK\x03\x04",
            {"name": "a.docx", "uri": "docs://a"},
            Contents(
                "docs://a",
                blob=b"PK\x03\x04",
                mime_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            ),
        ),
        (
            b"?",
            {"name": "../a b\n#.bin"},
            Contents("file:///..%2Fa%20b%0A%23.bin", blob=b"?", mime_type="application/octet-stream"),
        ),
    ],
)
def test_file_is_an_embedded_resource(data: bytes, options: dict[str, Any], contents: Contents) -> None:
    file = File(data, **options)
    assert isinstance(file, EmbeddedResource)
    assert file.resource == contents
    assert msgspec.json.encode(file) == msgspec.json.encode(EmbeddedResource(contents))


def test_file_does_not_publish_its_directory(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_bytes(b"# Notes")
    assert File(path=path).resource == Contents("file:///notes.md", text="# Notes", mime_type="text/markdown")
    assert File(path=path, name="other.txt").resource.uri == "file:///other.txt"


@pytest.mark.parametrize("block", [Image(PNG), Audio(WAV), File(b"a", "a.txt", meta={"a": 1})])
def test_blocks_can_be_copied(block: Any) -> None:
    for other in (copy.copy(block), copy.deepcopy(block), pickle.loads(pickle.dumps(block))):
        assert other == block
        assert type(other) is type(block)


def test_message_cannot_name_a_file_to_read() -> None:
    wire = b'{"type":"image","data":"","mimeType":"image/png","path":"/etc/hostname"}'
    assert msgspec.json.decode(wire, type=Block) == Image(b"", "image/png")
    with pytest.raises(msgspec.ValidationError, match="data"):
        msgspec.json.decode(b'{"type":"image","path":"/etc/hostname","mimeType":"image/png"}', type=Block)
