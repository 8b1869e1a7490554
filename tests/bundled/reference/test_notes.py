"""`write_note` writes into the served folder only, and reports an effect."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from assay import Server
from assay.bundled.reference import folder, make_server, notes
from assay.profile import Profile
from assay.revisions.registry import HANDSHAKE
from tests.bundled.reference.driving import client_of, text_of

NEWEST = HANDSHAKE[-1]
EFFECTS = "dev.assay/effects"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture
def server(root: Path) -> Server:
    server = make_server(root=root)
    server.use(Profile())
    return server


async def write(server: Server, name: str, text: str) -> dict[str, Any]:
    async with client_of(server, NEWEST) as client:
        result: dict[str, Any] = await client.result(
            "tools/call", {"name": "write_note", "arguments": {"name": name, "text": text}}
        )
    await server.stop()
    return result


def digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


async def test_a_note_is_written_and_reported(server: Server, root: Path) -> None:
    created = await write(server, "a.txt", "première")
    assert text_of(created) == "Wrote 9 bytes to a.txt"
    assert (root / "a.txt").read_text() == "première"
    effect = {"op": "create", "target": {"kind": "file", "id": "a.txt"}, "bytes": 9}
    assert created["_meta"][EFFECTS]["effects"] == [{**effect, "after": digest("première".encode())}]


async def test_an_existing_note_is_replaced_and_both_digests_are_reported(server: Server, root: Path) -> None:
    (root / "a.txt").write_text("old")
    (effect,) = (await write(server, "a.txt", "new"))["_meta"][EFFECTS]["effects"]
    assert (effect["op"], effect["before"], effect["after"]) == ("update", digest(b"old"), digest(b"new"))
    assert os.listdir(root) == ["a.txt"]


@pytest.mark.parametrize(
    "name", ["", ".hidden", "..", "a/b", "/etc/x", "a\\b", "ä.txt", "a" * 101, "a\n", "a\0b", "-a", "a b"]
)
async def test_other_names_are_refused_without_effect(server: Server, root: Path, name: str) -> None:
    refused = await write(server, name, "x")
    assert (refused["isError"], refused["_meta"][EFFECTS]["effects"]) == (True, [])
    assert "invalid name for a note" in text_of(refused)
    assert os.listdir(root) == []


async def test_a_text_that_is_too_long_is_refused(server: Server, root: Path) -> None:
    refused = await write(server, "a.txt", "x" * (notes.MOST_CHARACTERS + 1))
    assert text_of(refused) == f"text too long: limit {notes.MOST_CHARACTERS} characters"
    assert os.listdir(root) == []


async def test_a_link_is_not_followed_and_a_directory_stays(
    server: Server, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("outside")
    (root / "link").symlink_to(outside)
    (root / "place").mkdir()
    for name in ("link", "place"):
        refused = await write(server, name, "x")
        assert text_of(refused).startswith(f"cannot write {name}: ")
    assert outside.read_text() == "outside"
    assert sorted(os.listdir(root)) == ["link", "place"]


async def test_a_removed_folder_is_an_error(server: Server, root: Path) -> None:
    root.rmdir()
    assert text_of(await write(server, "a.txt", "x")) == "cannot write a.txt: No such file or directory"


def test_a_full_folder_refuses_new_notes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MOST_WRITTEN", 1)
    there = folder.Folder(root)
    assert there.write("one", b"x") is None
    with pytest.raises(folder.FileUnavailable, match="limit 1 files"):
        there.write("two", b"x")
    assert there.write("one", b"y") == b"x"


async def test_without_a_folder_there_is_no_such_tool() -> None:
    assert "write_note" not in [tool.name for tool in make_server().tools.list()]


async def test_editing_and_plugins_report_effects() -> None:
    server = make_server()
    server.use(Profile())
    effects = []
    async with client_of(server, NEWEST) as client:
        for name, arguments in (
            ("edit_resource", {"text": "new"}),
            ("load_plugin", {}),
            ("unload_plugin", {}),
        ):
            called = await client.result("tools/call", {"name": name, "arguments": arguments})
            effects.append(
                [(effect["op"], effect["target"]["kind"]) for effect in called["_meta"][EFFECTS]["effects"]]
            )
        idle = await client.result("tools/call", {"name": "unload_plugin", "arguments": {}})
    kinds = ("tool", "prompt", "resource")
    assert effects == [
        [("update", "resource")],
        [("create", kind) for kind in kinds],
        [("delete", kind) for kind in kinds],
    ]
    assert idle["_meta"][EFFECTS]["effects"] == []
