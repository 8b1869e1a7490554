"""Resuming a stream with `Last-Event-ID`: only its own messages, each once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay import Context
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from assay.store.memory import MemoryEvents, MemorySessions
from assay.transport.asgi.build import build
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import call, request
from tests.transport.subject import WATCHED, Subject

NEWEST = HANDSHAKE[-1]
by_revision = pytest.mark.parametrize("revision", HANDSHAKE, ids=str)


class Talker(Subject):
    """Its tool sends one message, waits, and then sends the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.finished = asyncio.Event()
        self.server.tool(self.talk)

    async def talk(self, name: str, ctx: Context) -> str:
        await ctx.log("info", f"{name} 1")
        await self.release.wait()
        await ctx.log("info", f"{name} 2")
        await ctx.log("info", f"{name} 3")
        self.finished.set()
        return name


def texts(messages: list[Any]) -> list[str]:
    return [
        message["params"]["data"] if "method" in message else message["result"]["content"][0]["text"]
        for message in messages
    ]


async def opened(app: Any, revision: Revision = NEWEST) -> AsgiPeer:
    return await AsgiPeer(app).shake_hands(revision)


def short_memory(talker: Talker) -> Any:
    events = MemoryEvents(events_per_stream=2)
    return build(talker.server, session_store=MemorySessions(), event_store=events)


def resume(client: AsgiPeer, last: str) -> Any:
    return client.begin("GET", headers={"last-event-id": last})


@by_revision
async def test_work_continues_and_the_rest_is_delivered_once(revision: Revision) -> None:
    """HTTP-34, HTTP-35: no message of one stream appears on the other."""
    talker = Talker()
    async with await opened(talker.server.asgi(), revision) as client:
        streams = {name: client.begin("POST", call("talk", name, name=name)) for name in ("a", "b")}
        for name, stream in streams.items():
            assert texts([await stream.message()]) == [f"{name} 1"]
            stream.leave()
        talker.release.set()
        async with asyncio.timeout(5):
            await talker.finished.wait()
            for stream in streams.values():
                await stream.task
        for name, stream in streams.items():
            resumed = resume(client, stream.sse.last_event_id)
            assert texts(await resumed.messages()) == [f"{name} 2", f"{name} 3", name]
            again = resume(client, resumed.sse.last_event_id)
            assert await again.messages() == []


async def test_resumption_may_begin_at_any_received_event() -> None:
    talker = Talker()
    talker.release.set()
    async with await opened(talker.server.asgi()) as client:
        stream = client.begin("POST", call("talk", name="a"))
        ids = []
        while (event := await stream.event()) is not None:
            ids.append(str(event.event_id))
        whole = ["a 1", "a 2", "a 3", "a"]
        assert len(ids) == 5  # the priming event and one for each
        for count, event_id in enumerate(ids):
            assert texts(await resume(client, event_id).messages()) == whole[count:]


@by_revision
async def test_resumption_follows_running_work(revision: Revision) -> None:
    talker = Talker()
    async with await opened(talker.server.asgi(), revision) as client:
        stream = client.begin("POST", call("talk", name="a"))
        await stream.message()
        stream.leave()
        resumed = await resume(client, stream.sse.last_event_id).started()
        assert not resumed.task.done()
        talker.release.set()
        assert texts(await resumed.messages()) == ["a 2", "a 3", "a"]


async def test_resumption_takes_over_from_the_connection_that_still_waits() -> None:
    """HTTP-31: a client that resumes has abandoned its old connection."""
    talker = Talker()
    async with await opened(talker.server.asgi()) as client:
        stream = client.begin("POST", call("talk", name="a"))
        await stream.message()
        resumed = await resume(client, stream.sse.last_event_id).started()
        talker.release.set()
        assert texts(await resumed.messages()) == ["a 2", "a 3", "a"]
        assert await stream.messages() == []


async def test_standalone_stream_is_resumed_as_well() -> None:
    talker = Talker()
    async with await opened(talker.server.asgi()) as client:
        await client.post(request("resources/subscribe", {"uri": WATCHED}))
        first = client.begin("GET")
        await first.started()
        await client.call("touch")
        await first.message()
        first.leave()
        await first.task
        await client.call("touch")
        resumed = resume(client, first.sse.last_event_id)
        assert (await resumed.message())["params"] == {"uri": WATCHED}
        assert resumed.sse.last_event_id == "0-2"
        # Delivered messages are repeated, because the client reports that they did not arrive.
        repeated = resume(client, first.sse.last_event_id)
        assert (await repeated.message())["params"] == {"uri": WATCHED}


@pytest.mark.parametrize(
    "last", ["nonsense", "0-99", "7-1", "1-", "-1", "1-1-1", "", "²-1", "1-" + "9" * 5000]
)
async def test_unknown_event_id_gets_400(last: str) -> None:
    async with await opened(Talker().server.asgi()) as client:
        await client.call("say", level="info", text="opens stream 1")
        answer = await client.send("GET", headers={"last-event-id": last.encode().decode("latin-1")})
        assert (answer.status, answer.json["error"]["code"]) == (400, -32600)


async def test_event_ids_of_another_session_are_unknown() -> None:
    app = Talker().server.asgi()
    async with await opened(app) as first, await opened(app) as second:
        said_to_first = await first.call("say", level="info", text="private")
        answer = await second.send("GET", headers={"last-event-id": said_to_first.sse.last_event_id})
        assert answer.status == 400


async def test_stream_with_evicted_messages_cannot_be_resumed() -> None:
    """A gap would lose messages silently."""
    talker = Talker()
    talker.release.set()
    async with await opened(short_memory(talker)) as client:
        await client.call("talk", name="a")
        assert (await client.send("GET", headers={"last-event-id": "1-1"})).status == 400
        assert texts(await resume(client, "1-2").messages()) == ["a 3", "a"]


async def test_late_listener_gets_the_stored_messages() -> None:
    """More messages were sent without a listener than the store keeps: only the oldest are lost."""
    talker = Talker()
    async with await opened(short_memory(talker)) as client:
        for number in range(4):
            await client.post(request("resources/subscribe", {"uri": f"notes://{number}"}))
            talker.server.resource_updated(f"notes://{number}")
            await client.post(request("ping"))
        listening = client.begin("GET")
        assert [(await listening.message())["params"]["uri"] for _ in "ab"] == ["notes://2", "notes://3"]


async def test_some_finished_streams_and_all_running_ones_are_stored() -> None:
    talker = Talker()
    async with await opened(talker.server.asgi()) as client:
        running = client.begin("POST", call("talk", name="a"))
        await running.message()
        for _ in range(20):
            await client.call("say", level="info", text="short")
        running.leave()
        talker.release.set()
        assert texts(await resume(client, running.sse.last_event_id).messages()) == ["a 2", "a 3", "a"]
        assert (await client.send("GET", headers={"last-event-id": "2-1"})).status == 400
        assert (await resume(client, "21-1").messages())[0]["id"] == "call"


async def test_listener_survives_many_other_streams() -> None:
    talker = Talker()
    async with await opened(talker.server.asgi()) as client:
        await client.post(request("resources/subscribe", {"uri": WATCHED}))
        listening = await client.begin("GET").started()
        for _ in range(2):
            await client.call("touch")
            await listening.message()
        for _ in range(70):
            await client.call("say", level="info", text="short")
        await client.call("touch")
        await client.post(request("ping"))
        assert (await asyncio.wait_for(listening.message(), 0.2))["params"] == {"uri": WATCHED}
        assert listening.sse.last_event_id == "0-3"
