"""OSV exports in three formats, within bounds."""

import json
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.certify.vulnerabilities.osv_export import BadExport, Bounds, digest, records

FIRST = {"id": "X-1", "modified": "2026-01-01T00:00:00Z", "affected": None, "unknown": {"to": "us"}}
SECOND = {"id": "X-2", "modified": "2026-01-02T00:00:00Z"}


def a_file(place: Path, *content: object) -> Path:
    file = place / "export.json"
    file.write_text(json.dumps(content[0] if len(content) == 1 else content))
    return file


def a_directory(place: Path, *content: object) -> Path:
    for number, record in enumerate(content):
        (place / "export" / str(number)).mkdir(parents=True)
        (place / "export" / str(number) / "record.json").write_text(json.dumps(record))
    (place / "export" / "README").write_text("no record")
    return place / "export"


def a_zip(place: Path, *content: object) -> Path:
    with zipfile.ZipFile(place / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README", "no record")
        for number, record in enumerate(content):
            archive.writestr(f"{number}.json", json.dumps(record))
    return place / "all.zip"


SHAPES = pytest.mark.parametrize("shape", [a_file, a_directory, a_zip])
Shape = Callable[..., Path]


def refusal(path: Path, bounds: Bounds | None = None) -> str:
    with pytest.raises(BadExport) as refused:
        list(records(path, bounds or Bounds()))
    return str(refused.value)


@SHAPES
def test_records_are_read(tmp_path: Path, shape: Shape) -> None:
    assert [record.id for record in records(shape(tmp_path, FIRST, SECOND))] == ["X-1", "X-2"]


@SHAPES
def test_one_invalid_record_makes_the_export_invalid(tmp_path: Path, shape: Shape) -> None:
    assert "contains no OSV record: Object missing required field `id`" in refusal(shape(tmp_path, FIRST, {}))


@SHAPES
def test_the_number_of_records_is_limited(tmp_path: Path, shape: Shape) -> None:
    path = shape(tmp_path, FIRST, SECOND)
    assert "more than 1 " in refusal(path, Bounds(records=1))


@SHAPES
def test_bytes_are_limited(tmp_path: Path, shape: Shape) -> None:
    path = shape(tmp_path, FIRST, SECOND)
    assert re.search("more than (the limit of )?60", refusal(path, Bounds(file_bytes=60, total_bytes=60)))


@pytest.mark.parametrize("shape", [a_directory, a_zip])
def test_the_size_of_a_record_is_limited(tmp_path: Path, shape: Shape) -> None:
    assert "more than 50 bytes" in refusal(shape(tmp_path, FIRST), Bounds(record_bytes=50))


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    bomb = a_zip(tmp_path, {**FIRST, "details": "0" * 2_000_000})
    assert bomb.stat().st_size < 5_000
    assert "have more than" in refusal(bomb)


def test_a_zip_that_lies_about_sizes(tmp_path: Path) -> None:
    path = a_zip(tmp_path, FIRST)
    data = path.read_bytes()
    size = len(json.dumps(FIRST)).to_bytes(4, "little")
    assert data.count(size) >= 2
    path.write_bytes(data.replace(size, (8).to_bytes(4, "little")))
    assert "cannot unpack" in refusal(path)


def test_a_broken_zip(tmp_path: Path) -> None:
    path = a_zip(tmp_path, FIRST, SECOND)
    data = bytearray(path.read_bytes())
    data[data.index(b"0.json") + 8] ^= 0xFF
    path.write_bytes(data)
    assert "cannot unpack" in refusal(path)


@pytest.mark.parametrize("content", [b"", b"{", b"7", b"\xff", b"[]", b'{"vulns":[]}', b"[" * 100_000])
def test_an_invalid_export(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(content)
    assert "contains no OSV record" in refusal(path)


def test_an_export_must_be_a_file_or_directory(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "neither a file nor a directory" in refusal(tmp_path / "pipe")
    assert "neither a file nor a directory" in refusal(tmp_path / "nowhere")


def test_a_directory_with_a_pipe_or_a_link_is_refused(tmp_path: Path) -> None:
    path = a_directory(tmp_path, FIRST)
    os.mkfifo(path / "x.json")
    assert "only regular files" in refusal(path)
    with pytest.raises(BadExport, match="only regular files"):
        digest(path)


def test_an_empty_directory_is_not_an_export(tmp_path: Path) -> None:
    assert "contains no OSV record: use an export" in refusal(tmp_path)


@SHAPES
def test_the_digest_changes_with_the_content(tmp_path: Path, shape: Shape) -> None:
    places = [tmp_path / name for name in "abc"]
    for place in places:
        place.mkdir()
    first, same, other = (
        digest(shape(place, content)) for place, content in zip(places, (FIRST, FIRST, SECOND), strict=True)
    )
    assert len(first) == 64
    assert first != other
    if shape is not a_zip:  # a zip archive contains timestamps
        assert first == same


def test_the_digest_of_a_missing_export(tmp_path: Path) -> None:
    with pytest.raises(BadExport, match="cannot read"):
        digest(tmp_path / "nowhere")
