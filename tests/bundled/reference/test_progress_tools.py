"""Tools that report progress; cancellation, timeouts, and closed sessions."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from assay import Limits, Scope
from assay.bundled.reference import make_server
from assay.bundled.reference.progress_tools import LEVELS
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from tests.bundled.reference.driving import client_of, text_of
from tests.driving.asgi import AsgiPeer
from tests.driving.client import SESSIONED, Client
from tests.driving.describing import LOG_LEVEL, describe
from tests.driving.messages import request

NEWEST = HANDSHAKE[-1]
IN_SESSION = pytest.mark.parametrize("transport", SESSIONED)
REVISIONS = pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
FOREVER = {"seconds": 60, "steps": 1}


async def begin_task(client: Client, **arguments: Any) -> Any:
    """Call the long task and wait until it has reported progress."""
    params = {"name": "long_task", "arguments": arguments, "_meta": {"progressToken": "p"}}
    started = await client.begin("tools/call", params)
    await client.received("notifications/progress")
    return started


@IN_SESSION
@REVISIONS
async def test_progress_grows_to_its_total(transport: str, revision: Revision) -> None:
    async with client_of(make_server(), revision, transport) as client:
        started = await begin_task(client, seconds=0, steps=3)
        assert text_of((await client.answer(started))["result"]) == "Finished 3 steps"
        reported = [notice["params"] for notice in client.of("notifications/progress")]
    assert [(params["progress"], params["total"]) for params in reported] == [(0, 3), (1, 3), (2, 3), (3, 3)]


@REVISIONS
async def test_counting_is_reported_as_progress_and_in_the_log(revision: Revision) -> None:
    async with client_of(make_server(), revision) as client:
        params = {"name": "count", "arguments": {"to": 2}, "_meta": {"progressToken": "p"}}
        assert text_of(await client.result("tools/call", params)) == "Counted to 2"
        reported = [notice["params"]["progress"] for notice in client.of("notifications/progress")]
        logged = [notice["params"]["data"] for notice in client.of("notifications/message")]
    assert reported == [1, 2]
    assert logged == ["counted to 1", "counted to 2"]


@pytest.mark.parametrize("arguments", [{"seconds": -1}, {"seconds": 61}, {"steps": 0}, {"steps": 101}])
async def test_arguments_of_the_long_task_are_limited(arguments: dict[str, Any]) -> None:
    async with client_of(make_server(), NEWEST) as client:
        assert (await client.call("long_task", **arguments))["isError"] is True


@IN_SESSION
@REVISIONS
async def test_a_cancelled_call_stops_and_is_not_answered(transport: str, revision: Revision) -> None:
    async with client_of(make_server(), revision, transport) as client:
        started = await begin_task(client, **FOREVER)
        await client.notify("notifications/cancelled", {"requestId": started, "reason": "enough"})
        assert await client.result("ping") == {}
        assert client.answers(started) == []


@IN_SESSION
async def test_cancelling_finished_or_unknown_requests_is_ignored(transport: str) -> None:
    async with client_of(make_server(), NEWEST, transport) as client:
        await client.call("echo", message="x")
        for request_id in ("0:tools/call", "nothing", 5):
            await client.notify("notifications/cancelled", {"requestId": request_id})
        assert await client.result("ping") == {}


async def test_other_requests_are_served_meanwhile() -> None:
    async with client_of(make_server(), NEWEST) as client:
        await begin_task(client, **FOREVER)
        assert text_of(await client.call("echo", message="meanwhile")) == "meanwhile"


async def test_an_idle_call_times_out_and_the_session_continues() -> None:
    server = make_server(limits=Limits(idle_timeout=0.01))
    async with client_of(server, NEWEST) as client:
        answer = await client.call("long_task", **FOREVER)
        assert answer["isError"] is True and "timed out" in text_of(answer)
        assert await client.result("ping") == {}


async def test_closing_a_session_cancels_its_calls() -> None:
    server = make_server()
    app = server.asgi()
    async with await AsgiPeer(app).shake_hands(NEWEST) as client:
        params = {"name": "long_task", "arguments": FOREVER, "_meta": {"progressToken": "p"}}
        running = await client.begin("POST", request("tools/call", params)).started()
        assert (await running.message())["method"] == "notifications/progress"
        (session,) = app._sessions._live.values()
        assert session.session.in_flight
        assert (await client.send("DELETE")).status == 204
        await running.complete()
        assert not session.session.in_flight
        assert len(server.notifier) == 0


async def test_disconnecting_does_not_cancel_in_a_session() -> None:
    server = make_server()
    app = server.asgi()
    async with await AsgiPeer(app).shake_hands(NEWEST) as client:
        params = {"name": "long_task", "arguments": FOREVER, "_meta": {"progressToken": "p"}}
        running = await client.begin("POST", request("tools/call", params)).started()
        await running.message()
        running.leave()
        assert (await client.post(request("ping", request_id=2))).status == 200
        (session,) = app._sessions._live.values()
        assert list(session.session.in_flight) == [1]
        await client.send("DELETE")


@IN_SESSION
@REVISIONS
async def test_one_message_per_requested_level(transport: str, revision: Revision) -> None:
    async with client_of(make_server(), revision, transport) as client:
        for number, level in enumerate(LEVELS):
            client.messages.clear()
            await client.result("logging/setLevel", {"level": level})
            await client.call("log_each_level")
            logged = [notice["params"]["level"] for notice in client.of("notifications/message")]
            assert logged == list(LEVELS[number:])
            client.judge()


async def test_log_messages_are_sent_on_request() -> None:
    sent: list[Any] = []

    async def send(data: bytes) -> None:
        sent.append(json.loads(data)["params"]["level"])

    message = describe("tools/call", {"name": "log_each_level"}, meta={LOG_LEVEL: "alert"})
    async with asyncio.timeout(5):
        await make_server().handle(message, send=send, scope=Scope())
    assert sent == ["alert", "emergency"]
