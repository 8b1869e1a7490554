"""Answers as JSON or as a stream, the standalone stream, and disconnects."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay import Context, Server
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from tests.driving.asgi import AsgiAnswer, AsgiPeer
from tests.driving.messages import call, request
from tests.transport.subject import WATCHED, Subject

NEWEST = HANDSHAKE[-1]
PRIMING = [revision for revision in HANDSHAKE if revision.http.priming]
UNPRIMED = [revision for revision in HANDSHAKE if not revision.http.priming]
by_revision = pytest.mark.parametrize("revision", HANDSHAKE, ids=str)


async def opened(app: Any, revision: Revision = NEWEST, **capabilities: Any) -> AsgiPeer:
    return await AsgiPeer(app).shake_hands(revision, **capabilities)


@by_revision
async def test_handler_that_only_returns_is_answered_as_json(revision: Revision) -> None:
    async with await opened(Subject().server.asgi(), revision) as client:
        answer = await client.call("report")  # no token: nothing is sent
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        assert answer.headers["content-length"] == str(len(answer.body))


@by_revision
@pytest.mark.parametrize("in_session", [True, False])
async def test_handler_that_sends_is_answered_as_a_stream(revision: Revision, in_session: bool) -> None:
    async with AsgiPeer(Subject().server.asgi()) as client:
        if in_session:
            await client.shake_hands(revision)
        answer = await client.call("say", level="info", text="hello")
        assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream")
        assert "no-cache" in answer.headers["cache-control"]
        assert answer.headers["x-accel-buffering"] == "no"
        logged, result = await answer.messages()
        assert (logged["params"]["data"], result["id"]) == ("hello", "call")


async def test_message_is_sent_when_it_happens() -> None:
    """The first one arrives while the handler is still running."""
    subject = Subject()

    @subject.server.tool
    async def speak_and_hold(ctx: Context) -> str:
        await ctx.log("info", "begun")
        return await subject.hold(ctx)

    async with await opened(subject.server.asgi()) as client:
        answer = client.begin("POST", call("speak_and_hold"))
        assert (await answer.message())["params"]["data"] == "begun"
        assert not answer.task.done()
        subject.release.set()
        assert (await answer.message())["result"]["content"][0]["text"] == "released"
        assert await answer.message() is None


@by_revision
async def test_events_are_numbered_within_their_stream(revision: Revision) -> None:
    """HTTP-32: unique in the session; HTTP-33: the id names the stream. HTTP-23: priming where it exists."""
    async with await opened(Subject().server.asgi(), revision) as client:
        ids: list[str | None] = []
        for _ in range(2):
            answer = client.begin("POST", call("say", level="info", text="hello"))
            events = []
            while (event := await answer.event()) is not None:
                events.append(event)
            assert bool(events[0].data) is not revision.http.priming
            assert len(events) == 2 + revision.http.priming
            assert len({str(event.event_id).partition("-")[0] for event in events}) == 1
            ids += [event.event_id for event in events]
        assert None not in ids
        assert len(set(ids)) == len(ids)


async def test_stream_without_a_session_has_no_ids() -> None:
    async with AsgiPeer(Subject().server.asgi()) as client:
        answer = client.begin("POST", call("say", level="info", text="hello"))
        while (event := await answer.event()) is not None:
            assert event.event_id is None


@by_revision
async def test_get_stream_carries_messages_outside_of_requests(revision: Revision) -> None:
    """HTTP-29, HTTP-31: the response to the POST contains none of it."""
    subject = Subject()
    async with await opened(subject.server.asgi(), revision) as client:
        await client.post(request("resources/subscribe", {"uri": WATCHED}))
        listening = await client.begin("GET").started()
        assert (listening.status, listening.is_stream) == (200, True)
        assert not (await client.call("touch")).is_stream
        assert (await listening.message())["params"] == {"uri": WATCHED}


async def test_messages_without_a_listener_are_stored() -> None:
    async with await opened(Subject().server.asgi()) as client:
        await client.post(request("resources/subscribe", {"uri": WATCHED}))
        await client.call("touch")
        first = client.begin("GET")
        assert (await first.message())["method"] == "notifications/resources/updated"
        first.leave()
        await first.task
        await client.call("touch")
        second = client.begin("GET")
        assert (await second.message())["method"] == "notifications/resources/updated"
        second.leave()
        await second.task
        # Both were delivered: a third reader only gets new messages.
        third = await client.begin("GET").started()
        await client.call("touch")
        assert (await third.event() or PRIMING) and third.sse.last_event_id == "0-2"
        assert (await third.message())["method"] == "notifications/resources/updated"
        assert third.sse.last_event_id == "0-3"


@by_revision
async def test_newer_get_takes_over(revision: Revision) -> None:
    """HTTP-31: each message on one connection only."""
    subject = Subject()
    async with await opened(subject.server.asgi(), revision) as client:
        await client.post(request("resources/subscribe", {"uri": WATCHED}))
        first = await client.begin("GET").started()
        second = await client.begin("GET").started()
        assert await first.messages() == []
        subject.server.resource_updated(WATCHED)
        assert (await second.message())["params"] == {"uri": WATCHED}
        assert not second.task.done()


@pytest.mark.parametrize("accept", ["application/json", None])
async def test_get_must_accept_a_stream(accept: str | None) -> None:
    """HTTP-27."""
    async with await opened(Subject().server.asgi()) as client:
        assert (await client.send("GET", headers={"accept": accept})).status == 406


async def test_silent_streams_carry_heartbeats() -> None:
    """Heartbeats are SSE comments, because clients parse every `data` field as JSON-RPC."""
    subject = Subject()

    @subject.server.tool
    async def speak_and_hold(ctx: Context) -> str:
        await ctx.log("info", "begun")
        return await subject.hold(ctx)

    async with await opened(subject.server.asgi(heartbeat=0.001)) as client:
        answer = client.begin("POST", call("speak_and_hold"))
        listening = client.begin("GET")
        for stream in (answer, listening):
            await stream.started()
            while stream.sse.comments < 3:
                assert await stream.more()
        subject.release.set()
        assert [message.get("id") for message in await answer.messages()] == [None, 1]


@pytest.mark.parametrize("revision", PRIMING, ids=str)
@pytest.mark.parametrize("retry", [None, 0.25])
async def test_stream_closed_early_has_a_retry_time(revision: Revision, retry: float | None) -> None:
    """HTTP-25: an id to resume from, and `retry` before the close."""
    subject = Subject()

    @subject.server.tool
    async def come_back(ctx: Context) -> str:
        await ctx.close_stream(retry)
        return await subject.hold(ctx)

    async with await opened(subject.server.asgi(retry=2.0), revision) as client:
        answer = client.begin("POST", call("come_back"))
        assert await answer.messages() == []
        assert answer.sse.retry_ms == (2000 if retry is None else 250)
        resumed = await client.begin("GET", headers={"last-event-id": answer.sse.last_event_id}).started()
        subject.release.set()
        (result,) = await resumed.messages()
        assert result["result"]["content"][0]["text"] == "released"


@pytest.mark.parametrize("revision", UNPRIMED, ids=str)
async def test_stream_is_not_closed_early_where_clients_cannot_resume(revision: Revision) -> None:
    """HTTP-16."""
    subject = Subject()

    @subject.server.tool
    async def come_back(ctx: Context) -> str:
        await ctx.close_stream()
        return "stayed"

    async with await opened(subject.server.asgi(), revision) as client:
        answer = await client.call("come_back")
        assert (answer.is_stream, answer.json["result"]["content"][0]["text"]) == (False, "stayed")


async def gone_before_the_first_word(client: AsgiPeer, subject: Subject) -> AsgiAnswer:
    answer = client.begin("POST", call("speak"))
    await subject.started.wait()
    answer.leave()
    subject.release.set()
    return answer


@pytest.mark.parametrize("in_session", [True, False])
async def test_disconnect_fails_no_handler(in_session: bool) -> None:
    """HTTP-18: a disconnect does not cancel the request, and sending after it is not an error."""
    subject = Subject()
    finished = asyncio.Event()

    @subject.server.tool
    async def speak(ctx: Context) -> str:
        subject.started.set()
        await subject.release.wait()
        await ctx.log("info", "anyone there?")
        await ctx.progress(1)
        await ctx.close_stream()
        await ctx.log("info", "no?")
        finished.set()
        return "done"

    async with AsgiPeer(subject.server.asgi()) as client:
        if in_session:
            await client.shake_hands(NEWEST)
        answer = await gone_before_the_first_word(client, subject)
        async with asyncio.timeout(5):
            await finished.wait()
            await answer.task


async def test_disconnect_inside_a_stream_fails_no_handler() -> None:
    subject = Subject()
    finished = asyncio.Event()

    @subject.server.tool
    async def speak(ctx: Context) -> str:
        await ctx.log("info", "begun")
        await subject.release.wait()
        await ctx.log("info", "anyone there?")
        finished.set()
        return "done"

    async with await opened(subject.server.asgi()) as client:
        answer = client.begin("POST", call("speak"))
        assert (await answer.message())["params"]["data"] == "begun"
        answer.leave()
        subject.release.set()
        async with asyncio.timeout(5):
            await finished.wait()
            await answer.task


async def test_no_task_is_left_when_an_application_is_closed() -> None:
    server = Server("s")

    @server.tool
    async def speak(ctx: Context) -> str:
        await ctx.log("info", "hello")
        return "done"

    before = asyncio.all_tasks()
    app = server.asgi()
    async with await opened(app) as client:
        await client.begin("GET").started()
        await client.call("speak")
        left = client.begin("POST", call("speak"))
        left.leave()
        await left.task
        await app.close()
    remaining = {task for task in asyncio.all_tasks() - before if not task.done()}
    await asyncio.gather(*(task for task in remaining if task.cancelling()), return_exceptions=True)
    assert {task for task in remaining if not task.done()} == set()
