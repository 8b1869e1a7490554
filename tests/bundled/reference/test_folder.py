"""Only files inside a folder can be read."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Server
from assay.bundled.reference import folder, make_server
from assay.bundled.reference.folder import (
    DEEPEST,
    LONGEST_NAME,
    MOST_BYTES,
    FileUnavailable,
    Folder,
    TooLarge,
    is_name,
    split,
)
from assay.bundled.reference.watch import BASE
from tests.bundled.reference.escapes import CANARY, DOTS, INSIDE, LINKS, attempts, build_box, naive_readers
from tests.driving.messages import request

ATTEMPTS = 10_000
OPEN_FILES = Path("/proc/self/fd")


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, ...]]:
    return build_box(tmp_path_factory.mktemp("escapes"))


@pytest.fixture(scope="module")
def attempted(box: tuple[Path, tuple[str, ...]]) -> list[str]:
    return attempts(box[1], ATTEMPTS)


@pytest.fixture
def boxed(box: tuple[Path, tuple[str, ...]]) -> Folder:
    return Folder(box[0])


def paths_of(uri: str) -> Iterator[str]:
    """The forms in which a URI may reach the folder: as it is, decoded once, decoded twice."""
    path = uri.removeprefix(BASE)
    yield from (path, unquote(path), unquote(unquote(path)))


def open_files() -> int:
    return len(list(OPEN_FILES.iterdir()))


def test_files_inside_are_read(boxed: Folder) -> None:
    for path, text in INSIDE.items():
        assert boxed.read(path) == text.encode()


@pytest.mark.timeout(120)
async def test_no_uri_reads_outside(box: tuple[Path, tuple[str, ...]], attempted: list[str]) -> None:
    server = make_server(root=box[0])
    before = open_files()
    for uri in attempted:
        answer = await server.handle(request("resources/read", {"uri": uri}))
        assert answer is not None and CANARY.encode() not in answer, uri
        message = json.loads(answer)
        if "result" in message:
            assert message["result"]["contents"][0]["text"] in INSIDE.values(), uri
        else:
            assert message["error"]["code"] in (-32002, -32602), message
    assert open_files() <= before + 1  # at most one more, for the thread's wake-up
    for path, text in INSIDE.items():
        answer = await server.handle(request("resources/read", {"uri": BASE + path}))
        assert answer is not None and json.loads(answer)["result"]["contents"][0]["text"] == text


def test_no_path_reads_outside(boxed: Folder, attempted: list[str]) -> None:
    before, refused = open_files(), 0
    for uri in attempted:
        for path in paths_of(uri):
            try:
                assert boxed.read(path).decode() in INSIDE.values(), path
            except FileUnavailable:
                refused += 1
    assert refused > ATTEMPTS
    assert open_files() == before


def test_the_attempts_succeed_against_naive_readers(
    box: tuple[Path, tuple[str, ...]], attempted: list[str]
) -> None:
    """Otherwise the tests above would prove nothing."""
    for reader in naive_readers(box[0]):
        leaks = 0
        for uri in attempted:
            path = uri.removeprefix(BASE)
            if any(trap in path for trap in ("zero", "pipe", "socket", "device")):
                continue  # a naive reader would block forever
            try:
                leaks += reader(path) == CANARY
            except (OSError, ValueError):
                continue
        assert leaks > 10


@pytest.mark.parametrize(
    "name", [*DOTS, *LINKS[:6], "", "a/b", "x" * 300, "/etc/passwd", "\0", "notes.txt\0"]
)
def test_traps_and_invalid_names_are_refused(boxed: Folder, name: str) -> None:
    for path in (name, f"{name}/canary.txt", f"sub/{name}", unquote(name)):
        with pytest.raises(FileUnavailable):
            boxed.read(path)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("name", ["pipe", "socket", "zero", "device", "sub", "link_file"])
def test_only_regular_files_are_read_without_blocking(boxed: Folder, name: str) -> None:
    with pytest.raises(FileUnavailable, match="not a regular file"):
        boxed.read(name)


@pytest.mark.timeout(10)
def test_a_file_that_becomes_a_pipe_before_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "file")
    regular = folder.Stamp(0, 0, 0, 0)
    monkeypatch.setattr(folder, "stamp_of", lambda name, directory: regular)
    with pytest.raises(FileUnavailable, match="not a regular file"):
        Folder(tmp_path).read("file")


def test_a_directory_swapped_for_a_link_is_not_followed(tmp_path: Path) -> None:
    box, (target, *_) = build_box(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    spare, link, here = tmp_path / "spare", tmp_path / "link", box / "sub"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for away, instead in ((spare, link), (link, spare)):
                here.rename(away)
                instead.rename(here)

    swapping = threading.Thread(target=swap)
    swapping.start()
    served, read = Folder(box), set()
    try:
        for _ in range(3000):
            try:
                read.add(served.read(f"sub/{target}"))
            except FileUnavailable:
                read.add(b"refused")
    finally:
        stop.set()
        swapping.join()
    assert read <= {b"a decoy", b"refused"}


@given(st.text())
@settings(max_examples=500)
def test_invalid_paths_are_refused_and_valid_ones_stay_inside(path: str) -> None:
    try:
        names = split(path)
    except FileUnavailable:
        return
    assert "/".join(names) == path
    assert not any(name in ("", ".", "..") or "\0" in name or "\\" in name for name in names)


def test_paths_are_limited(tmp_path: Path) -> None:
    assert is_name("x" * LONGEST_NAME) and not is_name("x" * (LONGEST_NAME + 1))
    assert not is_name("ä" * 128)
    assert len(split("/".join("x" * DEEPEST))) == DEEPEST
    for path in ("/".join("x" * (DEEPEST + 1)), "/".join(["x" * 200] * 25)):
        with pytest.raises(FileUnavailable):
            split(path)


def test_file_size_is_limited(tmp_path: Path) -> None:
    served = Folder(tmp_path)
    with (tmp_path / "big").open("wb") as file:
        file.truncate(MOST_BYTES)
        assert len(served.read("big")) == MOST_BYTES
        file.truncate(MOST_BYTES + 1)
        with pytest.raises(TooLarge):
            served.read("big")


def test_a_file_that_grows_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    descriptor = os.open(tmp_path / "big", os.O_RDONLY)
    small = os.stat_result((stat.S_IFREG, 1, 1, 1, 0, 0, 5, 0, 0, 0))
    monkeypatch.setattr(folder.os, "fstat", lambda descriptor: small)
    try:
        with pytest.raises(TooLarge):
            folder.read_whole(descriptor)
    finally:
        os.close(descriptor)


async def test_a_client_learns_that_a_file_is_too_large(tmp_path: Path) -> None:
    with (tmp_path / "big.bin").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    answer = await read(make_server(root=tmp_path), "big.bin")
    assert (answer["error"]["code"], answer["error"]["data"]) == (-32603, {"uri": BASE + "big.bin"})
    assert str(MOST_BYTES) in answer["error"]["message"]


async def read(server: Server, path: str) -> dict[str, dict[str, object]]:
    answer = await server.handle(request("resources/read", {"uri": BASE + path}))
    assert answer is not None
    decoded: dict[str, dict[str, object]] = json.loads(answer)
    return decoded


def test_the_list_has_regular_files_with_valid_names(tmp_path: Path) -> None:
    box, _ = build_box(tmp_path)
    (box / ".hidden").write_text("")
    (box / ".git").mkdir()
    (box / ".git" / "config").write_text("")
    Path(os.fsdecode(os.fsencode(box) + b"/\xff.txt")).write_text("")
    (box / "new\nline").write_text("")
    (box / "Ünïcode €.txt").write_text("")
    assert list(Folder(box).scan()) == ["notes.txt", "Ünïcode €.txt", "sub/canary.txt", "sub/deep.txt"]


def test_the_list_has_the_depth_that_can_be_read(tmp_path: Path) -> None:
    deepest = tmp_path.joinpath(*["d"] * (DEEPEST - 1))
    (deepest / "d").mkdir(parents=True)
    (deepest / "last").write_text("")
    (deepest / "d" / "too_deep").write_text("")
    served = Folder(tmp_path)
    (path,) = served.scan()
    assert path.endswith("d/last") and served.read(path) == b""


def test_the_list_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MOST_FILES", 3)
    for number in range(5):
        (tmp_path / str(number)).write_text("")
    assert list(Folder(tmp_path).scan()) == ["0", "1", "2"]


def test_a_folder_stays_the_same_when_it_is_renamed(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "file").write_text("mine")
    served = Folder(tmp_path / "one")
    (tmp_path / "one").rename(tmp_path / "two")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "file").write_text("another's")
    assert served.read("file") == b"mine"


@pytest.mark.parametrize("path", ["missing", "file"])
def test_a_path_other_than_a_folder_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        Folder(tmp_path / path)


def test_an_unsafe_platform_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "CAN_BE_SAFE", False)
    with pytest.raises(OSError, match="cannot read a folder"):
        Folder(tmp_path)


def test_the_descriptor_is_closed_with_its_last_user(tmp_path: Path) -> None:
    before = open_files()
    served = Folder(tmp_path)
    assert open_files() == before + 1
    del served
    assert open_files() == before
