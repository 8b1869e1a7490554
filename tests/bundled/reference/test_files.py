"""The file system in memory: lists, reads, edits, subscriptions."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from typing import Any

import pytest

from assay.bundled.reference import make_server
from assay.bundled.reference.files import DAILY, DAYS, DIAGRAM, FILES, MAIN_RS, MOST_CHARACTERS, NOTES
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from tests.bundled.reference.driving import client_of, text_of
from tests.driving.client import SESSIONED, Client
from tests.driving.describing import DescribingClient

NEWEST = HANDSHAKE[-1]
UPDATED = "notifications/resources/updated"
EVERY = pytest.mark.parametrize("revision", HANDSHAKE, ids=str)


async def read(client: Client, uri: str) -> Any:
    (contents,) = (await client.result("resources/read", {"uri": uri}))["contents"]
    return contents


@EVERY
async def test_every_file_is_listed_with_its_size_and_annotations_and_can_be_read(revision: Revision) -> None:
    async with client_of(make_server(), revision) as client:
        listed = (await client.result("resources/list"))["resources"][: len(FILES)]
        assert [resource["uri"] for resource in listed] == list(FILES)
        for resource in listed:
            contents = await read(client, resource["uri"])
            data = b64decode(contents["blob"]) if "blob" in contents else contents["text"].encode()
            assert (resource["size"], resource["mimeType"]) == (len(data), contents["mimeType"])
            assert set(resource["annotations"]) == {"audience", "priority", "lastModified"}
            assert set(contents) == {"uri", "mimeType", "blob" if "blob" in contents else "text"}


@EVERY
async def test_text_is_text_and_an_image_is_a_blob(revision: Revision) -> None:
    async with client_of(make_server(), revision) as client:
        assert (await read(client, MAIN_RS))["text"].startswith("fn main() {")
        assert b64decode((await read(client, "file:///resources/diagram.png"))["blob"]) == DIAGRAM


@EVERY
@pytest.mark.parametrize(
    "uri",
    [
        "file:///nonexistent.txt",
        "file:///resources/../notes.txt",
        "file:///etc/passwd",
        "file:///notes/daily/someday.md",
    ],
)
async def test_unknown_uri_is_not_found_and_named(revision: Revision, uri: str) -> None:
    async with client_of(make_server(), revision) as client:
        error = await client.error("resources/read", {"uri": uri})
    assert (error["code"], error["data"]) == (-32002, {"uri": uri})


async def test_a_template_has_a_file_for_each_day_and_completes_it() -> None:
    async with client_of(make_server(), NEWEST) as client:
        (template,) = (await client.result("resources/templates/list"))["resourceTemplates"]
        assert template["uriTemplate"] == DAILY
        for day in DAYS:
            assert (await read(client, DAILY.replace("{day}", day)))["text"].startswith(
                f"# {day.capitalize()}"
            )
        ref = {"type": "ref/resource", "uri": DAILY}
        params = {"ref": ref, "argument": {"name": "day", "value": "t"}}
        values = (await client.result("completion/complete", params))["completion"]["values"]
        assert values[:2] == ["tuesday", "thursday"] or values[:2] == ["thursday", "tuesday"]


@EVERY
@pytest.mark.parametrize("transport", SESSIONED)
async def test_an_edit_is_sent_to_subscribers_only(transport: str, revision: Revision) -> None:
    server = make_server()
    async with (
        client_of(server, revision, transport, listen=True) as subscriber,
        client_of(server, revision, transport, listen=True) as other,
    ):
        await subscriber.result("resources/subscribe", {"uri": NOTES})
        await other.result("resources/subscribe", {"uri": MAIN_RS})
        assert text_of(await other.call("edit_resource", text="once")) == f"Changed {NOTES}"
        assert (await subscriber.received(UPDATED))["params"] == {"uri": NOTES}
        assert (await read(subscriber, NOTES))["text"] == "once"
        await subscriber.result("resources/unsubscribe", {"uri": NOTES})
        await other.call("edit_resource", text="twice")
        await other.call("edit_resource", text="fn main() {}", uri=MAIN_RS)
        assert (await other.received(UPDATED))["params"] == {"uri": MAIN_RS}
        assert (len(subscriber.of(UPDATED)), len(other.of(UPDATED))) == (1, 1)


async def test_the_list_has_the_new_size() -> None:
    async with client_of(make_server(), NEWEST) as client:
        await client.call("edit_resource", text="äöü")
        listed = (await client.result("resources/list"))["resources"]
    assert {resource["uri"]: resource.get("size") for resource in listed}[NOTES] == 6


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": "x", "uri": "file:///resources/diagram.png"},
        {"text": "x", "uri": "file:///etc/passwd"},
        {"text": "x", "uri": "x" * 10_000},
        {"text": "x" * (MOST_CHARACTERS + 1)},
    ],
)
async def test_invalid_edits_are_refused(arguments: dict[str, str]) -> None:
    async with client_of(make_server(), NEWEST) as client:
        before = await read(client, NOTES)
        answer = await client.call("edit_resource", **arguments)
        assert answer["isError"] is True and len(text_of(answer)) < 400
        assert await read(client, NOTES) == before


async def test_a_listen_stream_is_notified_of_an_edit() -> None:
    server = make_server()
    client = DescribingClient(server)
    requested = {"resourceSubscriptions": [NOTES]}
    listening = asyncio.create_task(client.result("subscriptions/listen", {"notifications": requested}))
    assert (await client.next())["method"] == "notifications/subscriptions/acknowledged"
    await DescribingClient(server).call("edit_resource", text="heard")
    assert (await client.next())["params"]["uri"] == NOTES
    server.end_listening()
    await listening
