"""A handshake session on several processes: opened at one, used at any other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay.revisions.registry import HANDSHAKE
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import call, notification, request
from tests.store.backend import Backend
from tests.transport.shared import workers
from tests.transport.subject import WATCHED

NEWEST = HANDSHAKE[-1]


async def opened(app: Any, **capabilities: Any) -> AsgiPeer:
    return await AsgiPeer(app).shake_hands(NEWEST, **capabilities)


async def test_session_opened_at_one_process_is_served_at_another(backend: Backend) -> None:
    async with workers(backend) as serving:
        client = await opened(serving.apps[0])
        moved = serving.moved(client, 1)
        answer = await moved.call("add", a=1, b=2)
        assert answer.json["result"]["structuredContent"] == {"result": 3}


async def test_session_survives_a_restart_of_all_processes(backend: Backend) -> None:
    async with workers(backend, 1) as serving:
        client = await opened(serving.apps[0])
    async with workers(backend, 1) as serving:
        assert (await serving.moved(client, 0).call("add", a=1, b=2)).status == 200


async def test_session_of_a_principal_is_unknown_to_others_at_any_process(backend: Backend) -> None:
    async with workers(backend) as serving:
        client = await AsgiPeer(serving.apps[0], principal="ada").shake_hands(NEWEST)
        for number in (0, 1):
            assert (await serving.moved(client, number, principal="ada").call("add", a=1, b=2)).status == 200
            assert (await serving.moved(client, number, principal="eve").call("add", a=1, b=2)).status == 404
            assert (await serving.moved(client, number).call("add", a=1, b=2)).status == 404


async def test_session_ended_at_one_process_is_gone_at_another(backend: Backend) -> None:
    async with workers(backend) as serving:
        client = await opened(serving.apps[0])
        moved = serving.moved(client, 1)
        assert (await moved.call("add", a=1, b=2)).status == 200
        assert (await client.send("DELETE")).status == 204
        assert (await moved.call("add", a=1, b=2)).status == 404


async def test_data_of_a_session_is_read_at_the_next_process(backend: Backend) -> None:
    async with workers(backend) as serving:
        client = await opened(serving.apps[0])
        moved = serving.moved(client, 1)
        for number in range(6):
            at = (client, moved)[number % 2]
            answer = await at.call("note_down", text=str(number))
            assert answer.json["result"]["content"][0]["text"] == ",".join(map(str, range(number + 1)))


async def test_answer_to_a_question_reaches_the_handler_in_the_other_process(backend: Backend) -> None:
    async with workers(backend) as serving:
        client = await opened(serving.apps[0], sampling={})
        moved = serving.moved(client, 1)
        asking = client.begin("POST", call("sample", prompt="hello"))
        question = await asking.message()
        assert question["method"] == "sampling/createMessage"
        text = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}
        accepted = await moved.post({"jsonrpc": "2.0", "id": question["id"], "result": text})
        assert accepted.status == 202
        assert (await asking.message())["result"]["content"][0]["text"] == "hi"


async def test_answer_that_no_process_waits_for_is_refused(backend: Backend) -> None:
    async with workers(backend) as serving:
        client = await opened(serving.apps[0])
        assert (await client.post({"jsonrpc": "2.0", "id": "other", "result": {}})).status == 400


async def test_cancellation_ends_the_request_in_the_other_process(backend: Backend) -> None:
    async with workers(backend) as serving:
        client = await opened(serving.apps[0])
        moved = serving.moved(client, 1)
        held = client.begin("POST", call("hold", "held"))
        async with asyncio.timeout(5):
            await serving.workers[0].started.wait()
            cancelled = notification("notifications/cancelled", {"requestId": "held", "reason": "enough"})
            assert (await moved.post(cancelled)).status == 202
            await serving.workers[0].cancelled.wait()
            await held.complete()


async def test_stream_begun_at_one_process_is_resumed_at_another(backend: Backend) -> None:
    async with workers(backend) as serving:
        client = await opened(serving.apps[0])
        moved = serving.moved(client, 1)
        stream = client.begin("POST", call("talk", "t"))
        first = await stream.message()
        stream.leave()
        resumed = moved.begin("GET", headers={"last-event-id": stream.sse.last_event_id})
        serving.workers[0].release.set()
        rest = await resumed.messages()
        assert first["params"]["data"] == "1"
        assert [each["params"]["data"] for each in rest[:-1]] == ["2", "3"]
        assert rest[-1]["result"]["content"][0]["text"] == "talked"
        again = moved.begin("GET", headers={"last-event-id": resumed.sse.last_event_id})
        assert await again.messages() == []


async def test_changes_reach_streams_at_every_process_once(backend: Backend) -> None:
    async with workers(backend) as serving:
        client = await opened(serving.apps[0])
        moved = serving.moved(client, 1)
        stream = moved.begin("GET")
        await stream.started()
        subscribed = await client.post(request("resources/subscribe", {"uri": WATCHED}))
        assert subscribed.status == 200
        for worker in serving.workers:
            worker.server.resource_updated(WATCHED)
            assert (await stream.message())["params"]["uri"] == WATCHED
        serving.workers[0].server.tools.remove("add")
        assert (await stream.message())["method"] == "notifications/tools/list_changed"
        assert stream.sse.last_event_id == "0-3"


async def test_standalone_stream_is_resumed_at_another_process_without_loss(backend: Backend) -> None:
    async with workers(backend, 3) as serving:
        client = await opened(serving.apps[0])
        await client.post(request("resources/subscribe", {"uri": WATCHED}))
        stream = client.begin("GET")
        serving.workers[2].server.resource_updated(WATCHED)
        await stream.message()
        stream.leave()
        await stream.task
        serving.workers[2].server.resource_updated(WATCHED)
        moved = serving.moved(client, 1).begin("GET", headers={"last-event-id": stream.sse.last_event_id})
        assert (await moved.message())["params"]["uri"] == WATCHED
        assert moved.sse.last_event_id == "0-2"


async def test_newest_connection_takes_a_stream_over_from_another_process(backend: Backend) -> None:
    async with workers(backend) as serving:
        client = await opened(serving.apps[0])
        first = client.begin("GET")
        await first.started()
        second = serving.moved(client, 1).begin("GET")
        await second.started()
        async with asyncio.timeout(5):
            await first.complete()


async def test_stream_of_a_process_that_died_ends_with_an_error(backend: Backend) -> None:
    async with workers(backend) as serving:
        client = await opened(serving.apps[0])
        stream = client.begin("POST", call("talk", "t"))
        await stream.message()
        stream.leave()
        serving.bury(0)
        moved = serving.moved(client, 1).begin("GET", headers={"last-event-id": stream.sse.last_event_id})
        async with asyncio.timeout(6):
            (answer,) = await moved.messages()
        assert answer["id"] == "t" and answer["error"]["code"] == -32603
        assert "has ended" in answer["error"]["message"]


@pytest.mark.parametrize("position", ["0-99", "1-1", "zz.1-1", "a" * 100 + "-1", "0-", "-1"])
async def test_unknown_position_is_refused(backend: Backend, position: str) -> None:
    async with workers(backend, 1) as serving:
        client = await opened(serving.apps[0])
        assert (await client.send("GET", headers={"last-event-id": position})).status == 400


async def test_state_of_a_principal_without_a_session_is_read_at_the_next_process(backend: Backend) -> None:
    async with workers(backend) as serving:
        for number in range(6):
            client = AsgiPeer(serving.apps[number % 2], principal="ada")
            answer = await client.call("note_down", text=str(number))
            assert answer.json["result"]["content"][0]["text"] == ",".join(map(str, range(number + 1)))
        other = await AsgiPeer(serving.apps[0], principal="eve").call("note_down", text="x")
        assert other.json["result"]["content"][0]["text"] == "x"


async def test_call_on_a_stream_is_answered_while_the_store_is_away(backend: Backend) -> None:
    async with workers(backend, 1) as serving:
        client = await opened(serving.apps[0])
        stream = client.begin("POST", call("talk", "t"))
        await stream.message()
        store = serving.workers[0].server.store
        assert store is not None
        await store.close()
        serving.workers[0].release.set()
        rest = await stream.messages()
        assert [each.get("id") for each in rest] == [None, None, "t"]
        await store.start()
        first = stream.sse.last_event_id
        resumed = client.begin("GET", headers={"last-event-id": first})
        assert [each["id"] for each in await resumed.messages()] == ["t"]


async def test_messages_that_belong_to_no_request_wait_for_the_store(backend: Backend) -> None:
    async with workers(backend, 1) as serving:
        client = await opened(serving.apps[0])
        stream = client.begin("GET")
        await stream.started()
        (live,) = serving.apps[0]._sessions._cached.values()
        store = serving.workers[0].server.store
        assert store is not None
        await store.close()
        for number in range(3):
            live.session.post(b'{"jsonrpc":"2.0","method":"m%d"}' % number)
        await store.start()
        assert [(await stream.message())["method"] for _ in range(3)] == ["m0", "m1", "m2"]
