"""A folder as resources: files are listed and read, and changes are announced."""

from __future__ import annotations

import asyncio
import time
from base64 import b64decode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from assay import MissingExtra, Server
from assay.bundled.reference import make_server, watch
from assay.bundled.reference.watch import BASE, DEBOUNCE, TEMPLATE, mime_type_of, to_contents, uri_of
from assay.revisions.registry import HANDSHAKE
from tests.bundled.reference.driving import client_of
from tests.driving.client import SESSIONED, Client
from tests.driving.describing import DescribingClient

NEWEST = HANDSHAKE[-1]
UPDATED = "notifications/resources/updated"
CHANGED = "notifications/resources/list_changed"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    """A server for a folder with two files; it stops watching with the test."""
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.bin").write_bytes(b"\0\1")
    server = make_server(root=tmp_path)
    yield server
    await server.stop()


async def listed(client: Client) -> dict[str, dict[str, Any]]:
    resources = (await client.result("resources/list"))["resources"]
    return {
        resource["uri"].removeprefix(BASE): resource
        for resource in resources
        if resource["uri"].startswith(BASE)
    }


async def until_listed(client: Client, *paths: str) -> None:
    """Wait until exactly these files are listed; each change of the list is announced."""
    count = 0
    while list(await listed(client)) != list(paths):
        count += 1
        await client.received(CHANGED, count)


async def text_at(client: Client, path: str) -> str:
    (contents,) = (await client.result("resources/read", {"uri": uri_of(path)}))["contents"]
    text: str = contents["text"]
    return text


async def test_files_are_listed_and_read(server: Server) -> None:
    async with client_of(server, NEWEST) as client:
        files = await listed(client)
        assert list(files) == ["a.txt", "sub/b.bin"]
        assert (files["a.txt"]["size"], files["a.txt"]["mimeType"]) == (1, "text/plain")
        assert files["sub/b.bin"]["annotations"]["lastModified"]
        assert await text_at(client, "a.txt") == "a"
        (blob,) = (await client.result("resources/read", {"uri": uri_of("sub/b.bin")}))["contents"]
        assert b64decode(blob["blob"]) == b"\0\1"
        templates = (await client.result("resources/templates/list"))["resourceTemplates"]
        assert TEMPLATE in [template["uriTemplate"] for template in templates]


@pytest.mark.parametrize("transport", SESSIONED)
async def test_changes_on_disk_are_announced(server: Server, tmp_path: Path, transport: str) -> None:
    async with client_of(server, NEWEST, transport, listen=True) as client:
        await client.result("resources/subscribe", {"uri": uri_of("a.txt")})
        (tmp_path / "new.txt").write_text("new")
        await until_listed(client, "a.txt", "sub/b.bin", "new.txt")
        assert await text_at(client, "new.txt") == "new"
        assert client.of(UPDATED) == []
        (tmp_path / "a.txt").write_text("changed")
        assert (await client.received(UPDATED))["params"] == {"uri": uri_of("a.txt")}
        assert await text_at(client, "a.txt") == "changed"
        assert (await listed(client))["a.txt"]["size"] == len("changed")
        (tmp_path / "sub" / "b.bin").unlink()
        await client.received(CHANGED, len(client.of(CHANGED)) + 1)
        assert list(await listed(client)) == ["a.txt", "new.txt"]


async def test_a_change_is_announced_within_a_second(server: Server, tmp_path: Path) -> None:
    """The best of three, because the machine may be busy."""
    async with client_of(server, NEWEST) as client:
        await client.result("resources/subscribe", {"uri": uri_of("a.txt")})
        (tmp_path / "ready").write_text("")
        await until_listed(client, "a.txt", "sub/b.bin", "ready")
        delays = []
        for count in range(1, 4):
            began = time.monotonic()
            (tmp_path / "a.txt").write_text("x" * count)
            await client.received(UPDATED, count)
            delays.append(time.monotonic() - began)
    assert min(delays) < 1.0
    assert DEBOUNCE < 500


async def test_a_removed_file_is_announced_and_not_found(server: Server, tmp_path: Path) -> None:
    async with client_of(server, NEWEST) as client:
        await client.result("resources/subscribe", {"uri": uri_of("a.txt")})
        (tmp_path / "a.txt").unlink()
        await client.received(UPDATED)
        await until_listed(client, "sub/b.bin")
        assert (await client.error("resources/read", {"uri": uri_of("a.txt")}))["code"] == -32002


async def test_a_directory_that_is_renamed_moves_its_files(server: Server, tmp_path: Path) -> None:
    async with client_of(server, NEWEST) as client:
        (tmp_path / "sub").rename(tmp_path / "moved")
        await until_listed(client, "a.txt", "moved/b.bin")


async def test_changes_before_serving_are_noticed(server: Server, tmp_path: Path) -> None:
    (tmp_path / "early.txt").write_text("early")
    async with client_of(server, NEWEST) as client:
        await until_listed(client, "a.txt", "sub/b.bin", "early.txt")


async def test_a_file_is_read_even_before_it_is_listed(server: Server, tmp_path: Path) -> None:
    (tmp_path / "sub" / "fresh.txt").write_text("fresh")
    contents = await server.resources.read(uri_of("sub/fresh.txt"))
    assert contents[0].text == "fresh"


async def test_a_link_that_appears_is_neither_listed_nor_read(server: Server, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/hostname")
    async with client_of(server, NEWEST) as client:
        (tmp_path / "after").write_text("")
        await until_listed(client, "a.txt", "sub/b.bin", "after")
        assert (await client.error("resources/read", {"uri": uri_of("link")}))["code"] == -32002


async def test_a_listen_stream_is_notified_of_changes(server: Server, tmp_path: Path) -> None:
    client = DescribingClient(server)
    requested = {"resourceSubscriptions": [uri_of("a.txt")]}
    listening = asyncio.create_task(client.result("subscriptions/listen", {"notifications": requested}))
    assert (await client.next())["method"] == "notifications/subscriptions/acknowledged"
    (tmp_path / "a.txt").write_text("heard")
    assert (await client.next())["params"]["uri"] == uri_of("a.txt")
    server.end_listening()
    await listening


async def test_the_list_is_right_after_many_changes(server: Server, tmp_path: Path) -> None:
    async with client_of(server, NEWEST) as client:
        names = [f"{number:03}.txt" for number in range(250)]
        for name in names:
            (tmp_path / name).write_text(name)
        count = 0
        while sorted(await listed(client)) != sorted([*names, "a.txt", "sub/b.bin"]):
            count += 1
            await client.received(CHANGED, count)


@pytest.mark.parametrize(
    ("name", "data", "kind", "is_text"),
    [
        ("a.txt", b"x", "text/plain", True),
        ("a.md", b"x", "text/markdown", True),
        ("a.json", b"{}", "application/json", True),
        ("a.svg", b"<svg/>", "image/svg+xml", True),
        ("Makefile", b"all:", "text/plain", True),
        ("a.png", b"\x89PNG", "image/png", False),
        ("a.txt", b"\xff\xfe", "text/plain", False),
        ("core", b"\0\0", "application/octet-stream", False),
        ("a.txt.gz", b"\x1f\x8b", "application/gzip", False),
        ("a.txt.Z", b"\x1f\x9d", "application/octet-stream", False),
    ],
)
def test_text_is_detected(name: str, data: bytes, kind: str, is_text: bool) -> None:
    contents = to_contents(uri_of(name), data)
    assert (contents.mime_type, contents.text is not None) == (kind, is_text)
    assert contents.text == data.decode() if is_text else contents.blob == data


def test_uris_and_kinds_of_odd_names() -> None:
    assert uri_of("a b/ü?#.txt") == BASE + "a%20b/%C3%BC%3F%23.txt"
    assert mime_type_of("nothing") == "application/octet-stream"


async def test_odd_names_are_listed_and_read_by_their_uri(tmp_path: Path) -> None:
    for name in ("a b.txt", "ü.txt", "100%.txt", "what?#.txt", "{x}.txt", "semi;colon,.txt", "a+b&c=d.txt"):
        (tmp_path / name).write_text(name)
    server = make_server(root=tmp_path)
    for resource in server.resources.list():
        if resource.uri.startswith(BASE):
            (contents,) = await server.resources.read(resource.uri)
            assert contents.text == resource.name
    assert sum(resource.uri.startswith(BASE) for resource in server.resources.list()) == 7


def test_a_folder_needs_watchfiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'pip install "assay-mcp\[watch\]"'):
        make_server(root=tmp_path)
