"""Content is adapted to older revisions."""

from __future__ import annotations

from typing import Any

import pytest

from assay import Annotations, Audio, Message, ResourceLink, Server, Text, ToolResult
from assay.server.results.shape import shape_block
from tests.server.scripted import BATCHING, FIRST, NEWEST, STRUCTURED, ScriptedClient, ask, call

AUDIO = Audio(b"\xff", "audio/wav", Annotations(priority=1))
LINK = ResourceLink("a:b", "b", title="Bee", description="buzzing")
WIRE_AUDIO = {"type": "audio", "data": "/w==", "mimeType": "audio/wav", "annotations": {"priority": 1.0}}
WIRE_LINK = {"type": "resource_link", "uri": "a:b", "name": "b", "title": "Bee", "description": "buzzing"}
EMBEDDED_AUDIO = {
    "type": "resource",
    "resource": {"uri": "urn:assay:audio", "blob": "/w==", "mimeType": "audio/wav"},
    "annotations": {"priority": 1.0},
}
TEXT_LINK = {"type": "text", "text": "Bee: a:b (buzzing)"}
WIRE_TEXT = {"type": "text", "text": "plain"}


def server_with_everything() -> Server:
    server = Server("test")

    @server.tool
    async def blocks():  # type: ignore[no-untyped-def]
        return [Text("plain"), AUDIO, LINK]

    @server.tool
    async def structured() -> dict[str, int]:
        return {"a": 1}

    @server.tool
    async def whole() -> ToolResult:
        return ToolResult([LINK], {"a": 1}, is_error=True, meta={"com.example/a": 1})

    @server.prompt
    async def talk() -> list[Any]:
        return [AUDIO, Message("assistant", LINK)]

    return server


@pytest.mark.parametrize(
    ("revision", "audio", "link"),
    [
        (FIRST, EMBEDDED_AUDIO, TEXT_LINK),
        (BATCHING, WIRE_AUDIO, TEXT_LINK),
        (STRUCTURED, WIRE_AUDIO, WIRE_LINK),
        (NEWEST, WIRE_AUDIO, WIRE_LINK),
    ],
)
async def test_blocks_of_a_revision(revision: str, audio: Any, link: Any) -> None:
    result = await call(server_with_everything(), "blocks", revision=revision)
    assert result == {"content": [WIRE_TEXT, audio, link]}
    answer = await ask(server_with_everything(), "prompts/get", name="talk", revision=revision)
    assert answer["result"]["messages"] == [
        {"role": "user", "content": audio},
        {"role": "assistant", "content": link},
    ]


@pytest.mark.parametrize(
    ("revision", "structured"),
    [
        (FIRST, {}),
        (BATCHING, {}),
        *((date, {"structuredContent": {"a": 1}}) for date in (STRUCTURED, NEWEST)),
    ],
)
async def test_structured_content(revision: str, structured: dict[str, Any]) -> None:
    result = await call(server_with_everything(), "structured", revision=revision)
    assert result == {"content": [{"type": "text", "text": '{"a":1}'}], **structured}


async def test_tool_result_is_adapted_to_the_revision() -> None:
    assert await call(server_with_everything(), "whole", revision=FIRST) == {
        "content": [TEXT_LINK],
        "isError": True,
        "_meta": {"com.example/a": 1},
    }


@pytest.mark.parametrize(
    ("link", "text"),
    [
        (ResourceLink("a:b", "b"), "b: a:b"),
        (ResourceLink("a:b", "b", title="Bee"), "Bee: a:b"),
        (ResourceLink("a:b", "b", description="buzzing"), "b: a:b (buzzing)"),
    ],
)
async def test_link_becomes_descriptive_text(link: ResourceLink, text: str) -> None:
    server = Server("test")
    client = ScriptedClient(server, revision=FIRST)
    await client.initialize()
    assert shape_block(link, client.session.peer.revision) == Text(text)
