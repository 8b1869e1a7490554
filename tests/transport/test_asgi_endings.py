"""How a request over HTTP ends that gets no result: never with a 200 and an empty body."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from assay import Context, Limits
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Batching, Revision
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import call, notification
from tests.transport.subject import Subject

BATCHING = [revision for revision in HANDSHAKE if revision.batching is not Batching.REFUSED]
by_revision = pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
CANCEL = notification("notifications/cancelled", {"requestId": 1})
ENDED = "the session ended while the request was served"


def speaking_subject() -> Subject:
    subject = Subject(limits=Limits(drain=0.01))

    @subject.server.tool
    async def speak_and_hold(ctx: Context) -> str:
        await ctx.log("error", "begun")
        return await subject.hold(ctx)

    return subject


async def delete(app: Any, client: AsgiPeer) -> None:
    assert (await client.send("DELETE")).status == 204


async def stop(app: Any, client: AsgiPeer) -> None:
    await app.close()


Ending = Callable[[Any, AsgiPeer], Awaitable[None]]
ENDINGS: list[tuple[Ending, str]] = [(delete, ENDED), (stop, "the server is stopping")]


@by_revision
@pytest.mark.parametrize(("end", "reason"), ENDINGS, ids=["deleted", "stopped"])
@pytest.mark.parametrize("tool", ["hold", "hold_in_thread", "speak_and_hold"])
async def test_request_of_an_ended_session_is_answered_with_an_error(
    revision: Revision, end: Ending, reason: str, tool: str
) -> None:
    subject = speaking_subject()
    app = subject.server.asgi()
    async with await AsgiPeer(app).shake_hands(revision) as client:
        held = client.begin("POST", call(tool))
        await subject.started.wait()
        await end(app, client)
        *_, answer = await held.messages()
        assert (answer["id"], answer["error"]["code"], answer["error"]["message"]) == (1, -32603, reason)
        subject.release.set()


@by_revision
@pytest.mark.parametrize("tool", ["hold", "speak_and_hold"])
async def test_request_that_its_client_cancelled_gets_a_stream_without_an_answer(
    revision: Revision, tool: str
) -> None:
    """CAN-06: no response follows. HTTP-12: a request gets JSON or an event stream, so the status is 200."""
    subject = speaking_subject()
    async with await AsgiPeer(subject.server.asgi()).shake_hands(revision) as client:
        held = client.begin("POST", call(tool))
        await subject.started.wait()
        assert (await client.post(CANCEL)).status == 202
        assert [message for message in await held.messages() if "id" in message] == []
        assert (held.status, held.is_stream, held.body != b"") == (200, True, True)


@pytest.mark.parametrize("revision", BATCHING, ids=str)
@pytest.mark.parametrize(("tool", "status"), [("hold", 202), ("speak_and_hold", 200)])
async def test_batch_whose_only_request_was_cancelled_ends(
    revision: Revision, tool: str, status: int
) -> None:
    subject = speaking_subject()
    async with await AsgiPeer(subject.server.asgi()).shake_hands(revision) as client:
        held = client.begin("POST", [call(tool)])
        await subject.started.wait()
        await client.post(CANCEL)
        await held.complete()
        assert (held.status, held.body == b"") == (status, status == 202)


async def test_error_of_an_ended_session_has_no_id_to_resume_from() -> None:
    subject = speaking_subject()
    async with await AsgiPeer(subject.server.asgi()).shake_hands(HANDSHAKE[-1]) as client:
        held = client.begin("POST", call("speak_and_hold"))
        assert (await held.message())["method"] == "notifications/message"
        last_id = held.sse.last_event_id
        assert (await client.send("DELETE")).status == 204
        assert (await held.message())["error"]["message"] == ENDED
        assert held.sse.last_event_id == last_id and held.body.count(f"id: {last_id}\n".encode()) == 1


async def test_session_that_a_request_changed_after_its_end_stays_ended() -> None:
    subject = Subject()
    ended = asyncio.Event()

    @subject.server.tool
    async def outlive(ctx: Context) -> str:
        subject.started.set()
        try:
            await ended.wait()
        finally:
            ctx.session["late"] = True
        return "done"

    async with await AsgiPeer(subject.server.asgi()).shake_hands(HANDSHAKE[-1]) as client:
        held = client.begin("POST", call("outlive"))
        await subject.started.wait()
        assert (await client.send("DELETE")).status == 204
        await held.complete()
        assert (await client.post(call("add", a=1, b=2))).status == 404
