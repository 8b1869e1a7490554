"""Plain HTTP: each POST gets one JSON object, without sessions."""

from __future__ import annotations

from typing import Any

import pytest

from assay.revisions.registry import HANDSHAKE
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import call, initialize, notification, request
from tests.transport.subject import WATCHED, Subject

PING = request("ping")
NEWEST = HANDSHAKE[-1]


def peer() -> AsgiPeer:
    client = AsgiPeer(Subject().server.asgi(stream="off"))
    client.version = NEWEST.date
    return client


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json", 200),
        ("application/json, text/event-stream", 200),
        ("*/*", 200),
        ("text/event-stream", 406),
        (None, 406),
    ],
)
async def test_accepting_json_is_enough(accept: str | None, status: int) -> None:
    async with peer() as client:
        assert (await client.post(PING, headers={"accept": accept})).status == status


async def test_messages_of_a_handler_are_dropped() -> None:
    async with peer() as client:
        params = {"name": "report", "arguments": {}, "_meta": {"progressToken": 1}}
        for message in (request("tools/call", params), call("say", level="error", text="unheard")):
            answer = await client.post(message, headers={"accept": "text/event-stream, application/json"})
            assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
            assert answer.json["result"]["isError"] is False


async def test_initialize_opens_no_session_and_declares_nothing_that_needs_one() -> None:
    async with peer() as client:
        answer = await client.post(initialize(NEWEST))
        assert "mcp-session-id" not in answer.headers
        capabilities = answer.json["result"]["capabilities"]
        assert (capabilities["resources"], capabilities["tools"]) == ({}, {})
        refused = await client.post(request("resources/subscribe", {"uri": WATCHED}))
        assert "error" in refused.json


async def test_asking_the_client_fails_only_the_tool() -> None:
    async with peer() as client:
        for name in ("roots", "elicit"):
            assert (await client.call(name)).json["result"]["isError"] is True


async def test_notification_gets_202_and_a_response_400() -> None:
    async with peer() as client:
        accepted = await client.post(notification("notifications/initialized"))
        assert (accepted.status, accepted.body) == (202, b"")
        assert (await client.post({"jsonrpc": "2.0", "id": 1, "result": {}})).status == 400
        assert (
            await client.post({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}})
        ).status == 400


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
async def test_only_post_is_allowed(method: str) -> None:
    async with peer() as client:
        answer = await client.send(method)
        assert (answer.status, answer.headers["allow"]) == (405, "POST, OPTIONS")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "text/plain"}, 415),
        ({"mcp-protocol-version": "1999-01-01"}, 400),
        ({"host": "evil.example"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"mcp-session-id": "ignored"}, 200),
    ],
)
async def test_the_checks_are_those_of_the_streaming_endpoint(headers: dict[str, Any], status: int) -> None:
    async with peer() as client:
        assert (await client.post(PING, headers=headers)).status == status


async def test_many_posts_are_served_at_once() -> None:
    async with peer() as client:
        answers = [client.begin("POST", call("meet", index, parties=50)) for index in range(50)]
        for index, answer in enumerate(answers):
            assert (await answer.complete()).json["id"] == index


async def test_same_id_may_be_in_use_by_several_clients() -> None:
    """Two requests without a session are unrelated."""
    async with peer() as client:
        answers = [client.begin("POST", call("meet", 1, parties=2)) for _ in range(2)]
        for answer in answers:
            assert (await answer.complete()).json["result"]["content"][0]["text"] == "met"
