"""Manifests list every file, and no name leads out of the directory."""

import json
import os
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.certify.bundle import manifest
from assay.certify.bundle.bundle_manifest import read
from assay.certify.bundle.manifest import BadManifest, Difference, compare, encode, take
from assay.signing import canonical

NAMES = st.from_regex(r"\A[a-c]{1,2}(/[d-f]{1,2})?\Z")
TREES = st.dictionaries(NAMES, st.binary(max_size=8), max_size=6)
EMPTY = sha256(b"").hexdigest()
BUNDLE: dict[str, Any] = {
    "v": 1,
    "server": {"name": "a", "version": "1"},
    "artifact": None,
    "profile": {"id": "p", "sha256": EMPTY},
    "created": "2030-01-01T00:00:00Z",
    "expires": "2030-01-02T00:00:00Z",
    "roles": {},
    "files": [],
}


def write(directory: Path, files: dict[str, bytes]) -> dict[str, bytes]:
    """Write the files, without those whose name is also a directory."""
    written = {name: data for name, data in files.items() if not any(n.startswith(f"{name}/") for n in files)}
    for name, data in written.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(data)
    return written


@given(TREES, TREES)
@settings(max_examples=25)
def test_a_comparison_lists_exactly_the_changed_files(
    left: dict[str, bytes], right: dict[str, bytes]
) -> None:
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        before, after = write(Path(first), left), write(Path(second), right)
        listed = take(Path(first))
        difference = compare(listed, Path(second))
    assert [(entry.path, entry.size) for entry in listed.files] == sorted(
        (n, len(d)) for n, d in before.items()
    )
    assert difference.missing == tuple(sorted(before.keys() - after.keys()))
    assert difference.added == tuple(sorted(after.keys() - before.keys()))
    assert difference.changed == tuple(
        sorted(n for n in before.keys() & after.keys() if before[n] != after[n])
    )
    assert bool(difference) is (before != after)


def test_the_encoding(tmp_path: Path) -> None:
    write(tmp_path, {"b/c.txt": b"hi", "a": b""})
    digest = sha256(b"hi").hexdigest()
    assert encode(take(tmp_path)) == canonical.encode(
        {
            "files": [
                {"path": "a", "sha256": EMPTY, "size": 0},
                {"path": "b/c.txt", "sha256": digest, "size": 2},
            ]
        }
    )


def test_the_manifest_itself_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"MANIFEST": b"?", "a": b"1", "b/MANIFEST": b"2"})
    listed = take(tmp_path, without={"MANIFEST"})
    assert [entry.path for entry in listed.files] == ["a", "b/MANIFEST"]
    assert compare(listed, tmp_path, without={"MANIFEST"}) == Difference()
    assert compare(listed, tmp_path) == Difference(added=("MANIFEST",))


def test_a_change_that_keeps_the_size(tmp_path: Path) -> None:
    write(tmp_path, {"a": b"1"})
    listed = take(tmp_path)
    write(tmp_path, {"a": b"2"})
    assert compare(listed, tmp_path) == Difference(changed=("a",))


def linked(directory: Path) -> None:
    (directory / "link").symlink_to("/etc/hostname")


def linked_within(directory: Path) -> None:
    write(directory, {"a": b""})
    (directory / "link").symlink_to("a")


def linked_directory(directory: Path) -> None:
    write(directory, {"real/a": b""})
    (directory / "link").symlink_to("real", target_is_directory=True)


def piped(directory: Path) -> None:
    os.mkfifo(directory / "pipe")


@pytest.mark.parametrize("spoil", [linked, linked_within, linked_directory, piped])
def test_only_regular_files_are_described(tmp_path: Path, spoil: Any) -> None:
    spoil(tmp_path)
    for act in (take, lambda directory: compare(manifest.Manifest(()), directory)):
        with pytest.raises(BadManifest, match="only regular files are allowed"):
            act(tmp_path)


@pytest.mark.parametrize("name", [b"a\\b", b"a\nb", b"\xff"])
def test_a_name_that_is_not_portable(tmp_path: Path, name: bytes) -> None:
    (tmp_path / os.fsdecode(name)).touch()
    with pytest.raises(BadManifest, match="not a portable file name"):
        take(tmp_path)


@pytest.mark.parametrize("names", [("A", "a"), ("\u00e9", "e\u0301")])
def test_names_that_are_equal_on_other_systems(tmp_path: Path, names: tuple[str, str]) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(BadManifest, match="equal on other systems"):
        take(tmp_path)


def test_names_are_normalised(tmp_path: Path) -> None:
    (tmp_path / "e\u0301").touch()
    listed = take(tmp_path)
    assert listed.files[0].path == "\u00e9"
    assert not compare(listed, tmp_path)


def test_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadManifest, match=r"cannot read .*nowhere: No such file"):
        take(tmp_path / "nowhere")


def test_the_number_of_files_is_limited(tmp_path: Path) -> None:
    write(tmp_path, {"a": b"", "b": b""})
    with pytest.raises(BadManifest, match="more than 1 files"):
        take(tmp_path, limit=1)


def entry(path: str = "a", **members: Any) -> dict[str, Any]:
    return {"path": path, "sha256": EMPTY, "size": 0, **members}


@pytest.mark.parametrize(
    "files",
    [
        *(
            [entry(path)]
            for path in ("", "/a", "../a", "a/../b", "./a", "a//b", "a/", "a\\b", "e\u0301", "a\x00")
        ),
        [entry("b"), entry("a")],
        [entry("a"), entry("a")],
        [entry("A"), entry("a")],
        [entry(size=-1)],
        [entry(size=1.5)],
        [entry(sha256="00")],
        [entry(mode=0o777)],
        {},
    ],
)
def test_an_invalid_list_of_files(files: object) -> None:
    with pytest.raises(BadManifest):
        read(canonical.encode({**BUNDLE, "files": files}))


def test_only_the_canonical_form_is_read() -> None:
    assert read(canonical.encode({**BUNDLE, "files": [entry()]})).files[0].path == "a"
    with pytest.raises(BadManifest, match="not canonical JSON"):
        read(json.dumps(BUNDLE).encode())
