"""Listen streams: the requested changes, and nothing else, until the stream ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from assay import Limits, Server
from assay.server.dispatch.listen_stream import ListenFilter, ListenStream
from tests.driving.describing import SERVER_INFO, SUBSCRIPTION, DescribingClient, describe, text_of
from tests.server.scripted import ScriptedClient, finished, quiescence

ALL = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
SECRET = "notes://secret"


def make_server(**options: Any) -> Server:
    server = Server("test", "1", **options)
    for register in (server.tool, server.prompt, server.resource("notes://a"), server.resource("notes://b")):
        register(note)
    server.resource(SECRET, access=lambda uri, scope: scope.principal == "ada")(note)
    return server


async def note() -> str:
    return "note"


def change_everything(server: Server) -> None:
    server.tools.add(note, name="another")
    server.prompts.add(note, name="another")
    server.resources.add("notes://another", note)
    server.resource_updated("notes://a")
    server.resource_updated("notes://b")


class Listening:
    """Open streams, each in its own task."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.tasks: list[asyncio.Task[Any]] = []

    def open(self, client: DescribingClient, **requested: Any) -> asyncio.Task[Any]:
        request = client.request("subscriptions/listen", {"notifications": requested})
        self.tasks.append(asyncio.create_task(request))
        return self.tasks[-1]

    async def client(self, **requested: Any) -> DescribingClient:
        """A client whose stream is open."""
        client = DescribingClient(self.server)
        self.open(client, **requested)
        assert (await client.next())["method"] == "notifications/subscriptions/acknowledged"
        return client

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


@pytest.fixture
async def listening() -> AsyncIterator[Listening]:
    opened = Listening(make_server())
    yield opened
    await opened.close()
    assert opened.server.notifier.listeners == set()


def received(client: DescribingClient) -> list[tuple[str, Any]]:
    """Method and URI of the messages so far; all of them must have the id of the stream."""
    changes = []
    while not client.heard.empty():
        message = client.heard.get_nowait()
        assert message["params"]["_meta"] == {SUBSCRIPTION: 1}
        changes.append((message["method"].removeprefix("notifications/"), message["params"].get("uri")))
    return changes


@pytest.mark.parametrize(
    ("requested", "honoured"),
    [
        ({}, {}),
        (ALL, ALL),
        ({"toolsListChanged": True, "promptsListChanged": False}, {"toolsListChanged": True}),
        ({"resourcesListChanged": None, "unknownKind": True}, {}),
        ({"resourceSubscriptions": []}, {"resourceSubscriptions": []}),
        (
            {"resourceSubscriptions": ["notes://b", "no uri", "notes://nowhere", SECRET, "notes://a"]},
            {"resourceSubscriptions": ["notes://b", "notes://a"]},
        ),
    ],
)
async def test_the_acknowledgement_comes_first_and_names_the_accepted_changes(
    listening: Listening, requested: Any, honoured: Any
) -> None:
    """SUB-02, SUB-04. Resources that the client may not read look as if they did not exist."""
    client = DescribingClient(listening.server)
    listening.open(client, **requested)
    assert await client.next() == {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": {SUBSCRIPTION: 1}, "notifications": honoured},
    }
    await quiescence()
    assert received(client) == []


async def test_readable_resource_may_be_subscribed(listening: Listening) -> None:
    client = DescribingClient(listening.server, principal="ada")
    listening.open(client, resourceSubscriptions=[SECRET])
    assert (await client.next())["params"]["notifications"] == {"resourceSubscriptions": [SECRET]}
    listening.server.resource_updated(SECRET)
    await quiescence()
    assert received(client) == [("resources/updated", SECRET)]


@pytest.mark.parametrize(
    ("off", "honoured"),
    [
        ("tools.listChanged", {"promptsListChanged", "resourcesListChanged", "resourceSubscriptions"}),
        ("resources.subscribe", {"toolsListChanged", "promptsListChanged", "resourcesListChanged"}),
        ("resources", {"toolsListChanged", "promptsListChanged"}),
    ],
)
async def test_unsupported_changes_are_not_accepted(off: str, honoured: set[str]) -> None:
    listening = Listening(make_server(capabilities={off: False}))
    client = DescribingClient(listening.server)
    listening.open(client, **ALL, resourceSubscriptions=["notes://a"])
    assert set((await client.next())["params"]["notifications"]) == honoured
    await listening.close()


@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        ({}, []),
        ({"toolsListChanged": True}, [("tools/list_changed", None)]),
        ({"promptsListChanged": True}, [("prompts/list_changed", None)]),
        ({"resourcesListChanged": True}, [("resources/list_changed", None)]),
        ({"resourceSubscriptions": ["notes://b"]}, [("resources/updated", "notes://b")]),
        (
            ALL | {"resourceSubscriptions": ["notes://a", "notes://b", "notes://a"]},
            [
                ("tools/list_changed", None),
                ("prompts/list_changed", None),
                ("resources/list_changed", None),
                ("resources/updated", "notes://a"),
                ("resources/updated", "notes://b"),
            ],
        ),
    ],
)
async def test_only_requested_changes_are_sent(
    listening: Listening, requested: Any, expected: list[tuple[str, str | None]]
) -> None:
    """SUB-01, SUB-05."""
    client = await listening.client(**requested)
    change_everything(listening.server)
    await quiescence()
    assert received(client) == expected


async def test_streams_of_one_client_are_independent(listening: Listening) -> None:
    client = await listening.client(toolsListChanged=True)
    listening.open(client, resourceSubscriptions=["notes://a"])
    await client.next()
    change_everything(listening.server)
    await quiescence()
    came = [client.heard.get_nowait() for _ in range(client.heard.qsize())]
    assert [(message["method"], message["params"]["_meta"][SUBSCRIPTION]) for message in came] == [
        ("notifications/tools/list_changed", 1),
        ("notifications/resources/updated", 2),
    ]


async def test_sessions_and_streams_get_the_same_changes(listening: Listening) -> None:
    client = await listening.client(toolsListChanged=True, resourceSubscriptions=["notes://a"])
    async with ScriptedClient(listening.server) as session:
        await session.result("resources/subscribe", uri="notes://a")
        listening.server.tools.add(note, name="another")
        listening.server.resource_updated("notes://a")
        await quiescence()
        assert session.received_so_far() == [
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
            {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "notes://a"}},
        ]
        assert received(client) == [("tools/list_changed", None), ("resources/updated", "notes://a")]


async def test_changes_from_other_threads_are_sent(listening: Listening) -> None:
    client = await listening.client(resourceSubscriptions=["notes://a"])
    await asyncio.to_thread(listening.server.resource_updated, "notes://a")
    assert (await client.next())["method"] == "notifications/resources/updated"


async def test_changes_in_one_turn_are_sent_once(listening: Listening) -> None:
    client = await listening.client(**ALL)
    for number in range(10):
        listening.server.tools.add(note, name=f"tool-{number}")
    await quiescence()
    assert received(client) == [("tools/list_changed", None)]


async def test_the_server_ends_a_stream_with_a_result(listening: Listening) -> None:
    """SUB-08."""
    client = await listening.client(**ALL)
    listening.server.end_listening()
    assert await finished(listening.tasks[0]) == {
        "jsonrpc": "2.0",
        "result": {
            "resultType": "complete",
            "_meta": {SERVER_INFO: {"name": "test", "version": "1"}, SUBSCRIPTION: 1},
        },
    }
    assert received(client) == []


async def test_queued_changes_are_sent_before_the_end(listening: Listening) -> None:
    client = await listening.client(**ALL)
    (listener,) = listening.server.notifier.listeners
    listener.notify("notifications/tools/list_changed", {})
    listening.server.end_listening()
    listener.notify("notifications/prompts/list_changed", {})
    await finished(listening.tasks[0])
    assert received(client) == [("tools/list_changed", None)]


async def test_on_stdio_the_end_is_announced_by_id(listening: Listening) -> None:
    """CAN-12 (basic/patterns/cancellation): on stdio all streams share one channel."""
    client = DescribingClient(listening.server, transport="stdio")
    listening.open(client)
    await client.next()
    listening.server.end_listening()
    answer = await finished(listening.tasks[0])
    assert answer["result"]["_meta"][SUBSCRIPTION] == 1
    assert await client.next() == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1, "reason": "the server ended this stream"},
    }


async def test_there_is_a_limit_to_streams() -> None:
    listening = Listening(make_server(limits=Limits(listeners=2)))
    for _ in range(2):
        await listening.client(**ALL)
    error = {"code": -31004, "message": "too many listen streams: limit 2; try again later"}
    client = DescribingClient(listening.server)
    assert await finished(listening.open(client, **ALL)) == {"jsonrpc": "2.0", "error": error}
    assert client.heard.empty()
    listening.tasks[0].cancel()
    await asyncio.wait([listening.tasks[0]])
    await listening.client(**ALL)
    await listening.close()


async def test_client_with_the_most_streams_makes_room_for_others() -> None:
    listening = Listening(make_server(limits=Limits(listeners=3)))
    for _ in range(3):
        await listening.client(**ALL)
    other = DescribingClient(listening.server, principal="ada")
    listening.open(other, **ALL)
    assert (await other.next())["method"] == "notifications/subscriptions/acknowledged"
    assert (await finished(listening.tasks[2]))["result"]["_meta"][SUBSCRIPTION] == 1
    assert [task.done() for task in listening.tasks] == [False, False, True, False]
    assert len(listening.server.notifier.listeners) == 3
    assert "error" in await finished(listening.open(other, **ALL))
    await listening.close()
    assert listening.server.notifier.listeners == set()


@pytest.mark.parametrize("limits", [Limits(subscriptions=1), Limits(subscription_bytes=17)])
async def test_there_is_a_limit_to_the_resources_of_a_stream(limits: Limits) -> None:
    listening = Listening(make_server(limits=limits))
    client = DescribingClient(listening.server)
    listening.open(client, resourceSubscriptions=["notes://a", "notes://b"])
    assert (await client.next())["params"]["notifications"] == {"resourceSubscriptions": ["notes://a"]}
    await listening.close()


@pytest.mark.parametrize(
    "params",
    [{}, {"notifications": None}, {"notifications": []}, {"notifications": {"toolsListChanged": "x"}}],
)
async def test_invalid_filter_is_refused(params: Any) -> None:
    error = await DescribingClient(make_server()).error("subscriptions/listen", params)
    assert (error["code"], error["message"][:16]) == (-32602, "invalid params: ")


async def test_stream_is_refused_without_send() -> None:
    """A stream that cannot send anything would only block its client."""
    server = make_server()
    answer = await server.handle(describe("subscriptions/listen", {"notifications": ALL}))
    assert answer is not None
    assert b'"code":-32601' in answer
    assert server.notifier.listeners == set()


async def test_stream_of_a_client_that_does_not_read_is_ended(listening: Listening) -> None:
    blocked = asyncio.Event()

    class Stuck(DescribingClient):
        async def _send(self, data: bytes) -> None:
            await super()._send(data)
            await blocked.wait()

    client = Stuck(listening.server)
    listening.open(client, toolsListChanged=True)
    await client.next()
    (listener,) = listening.server.notifier.listeners
    assert isinstance(listener, ListenStream)
    for _ in range(3 * ListenStream.MOST_WAITING):
        listener.notify("notifications/tools/list_changed", {})
    assert listener._waiting.qsize() == ListenStream.MOST_WAITING + 1
    blocked.set()
    answer = await finished(listening.tasks[0])
    assert answer["result"]["resultType"] == "complete"
    assert len(received(client)) == ListenStream.MOST_WAITING


async def test_ending_twice_ends_once() -> None:
    listener = ListenStream(ListenFilter())
    listener.end()
    listener.end()
    assert (await listener.next(), listener._waiting.qsize()) == (None, 0)


async def test_idle_timeout_does_not_apply_to_streams() -> None:
    server = make_server(limits=Limits(idle_timeout=0.01))

    @server.tool
    async def hold() -> str:
        await asyncio.Event().wait()
        raise AssertionError("not reached")

    listening = Listening(server)
    client = await listening.client(**ALL)
    assert "timed out" in text_of(await DescribingClient(server).call("hold"))
    server.tools.add(note, name="another")
    assert (await client.next())["method"] == "notifications/tools/list_changed"
    await listening.close()


async def test_cancelled_streams_leave_nothing_behind(listening: Listening) -> None:
    before = len(asyncio.all_tasks())
    for _ in range(50):
        await listening.client(**ALL)
    assert len(listening.server.notifier.listeners) == 50
    await listening.close()
    assert (len(asyncio.all_tasks()), listening.server.notifier.listeners) == (before, set())
