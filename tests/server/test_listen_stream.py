"""Listen streams: what their clients asked to hear of, and nothing else, until they end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from assay import Limits, Server
from assay.server.listen_stream import ListenFilter, ListenStream
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
    """Streams that are open, each in a task of its own."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.tasks: list[asyncio.Task[Any]] = []

    def open(self, client: DescribingClient, **wanted: Any) -> asyncio.Task[Any]:
        request = client.request("subscriptions/listen", {"notifications": wanted})
        self.tasks.append(asyncio.create_task(request))
        return self.tasks[-1]

    async def client(self, **wanted: Any) -> DescribingClient:
        """A client whose stream is open."""
        client = DescribingClient(self.server)
        self.open(client, **wanted)
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


def heard(client: DescribingClient) -> list[tuple[str, Any]]:
    """Method and URI of what has come so far; all of it carries the id of its stream."""
    found = []
    while not client.heard.empty():
        message = client.heard.get_nowait()
        assert message["params"]["_meta"] == {SUBSCRIPTION: 1}
        found.append((message["method"].removeprefix("notifications/"), message["params"].get("uri")))
    return found


@pytest.mark.parametrize(
    ("wanted", "honoured"),
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
async def test_the_acknowledgement_comes_first_and_says_what_is_honoured(
    listening: Listening, wanted: Any, honoured: Any
) -> None:
    """SUB-02, SUB-04. What a client may not read looks as if it were not there."""
    client = DescribingClient(listening.server)
    listening.open(client, **wanted)
    assert await client.next() == {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": {SUBSCRIPTION: 1}, "notifications": honoured},
    }
    await quiescence()
    assert heard(client) == []


async def test_who_may_read_a_resource_may_hear_of_it(listening: Listening) -> None:
    client = DescribingClient(listening.server, principal="ada")
    listening.open(client, resourceSubscriptions=[SECRET])
    assert (await client.next())["params"]["notifications"] == {"resourceSubscriptions": [SECRET]}
    listening.server.resource_updated(SECRET)
    await quiescence()
    assert heard(client) == [("resources/updated", SECRET)]


@pytest.mark.parametrize(
    ("off", "honoured"),
    [
        ("tools.listChanged", {"promptsListChanged", "resourcesListChanged", "resourceSubscriptions"}),
        ("resources.subscribe", {"toolsListChanged", "promptsListChanged", "resourcesListChanged"}),
        ("resources", {"toolsListChanged", "promptsListChanged"}),
    ],
)
async def test_what_the_server_does_not_offer_is_not_honoured(off: str, honoured: set[str]) -> None:
    listening = Listening(make_server(capabilities={off: False}))
    client = DescribingClient(listening.server)
    listening.open(client, **ALL, resourceSubscriptions=["notes://a"])
    assert set((await client.next())["params"]["notifications"]) == honoured
    await listening.close()


@pytest.mark.parametrize(
    ("wanted", "expected"),
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
async def test_only_what_was_asked_for_is_heard(
    listening: Listening, wanted: Any, expected: list[tuple[str, str | None]]
) -> None:
    """SUB-01, SUB-05."""
    client = await listening.client(**wanted)
    change_everything(listening.server)
    await quiescence()
    assert heard(client) == expected


async def test_several_streams_of_one_client_hear_each_their_own(listening: Listening) -> None:
    client = await listening.client(toolsListChanged=True)
    listening.open(client, resourceSubscriptions=["notes://a"])
    await client.next()
    change_everything(listening.server)
    await quiescence()
    came = [client.heard.get_nowait() for _ in range(client.heard.qsize())]
    assert [(one["method"], one["params"]["_meta"][SUBSCRIPTION]) for one in came] == [
        ("notifications/tools/list_changed", 1),
        ("notifications/resources/updated", 2),
    ]


async def test_sessions_and_listeners_hear_alike(listening: Listening) -> None:
    client = await listening.client(toolsListChanged=True, resourceSubscriptions=["notes://a"])
    async with ScriptedClient(listening.server) as session:
        await session.result("resources/subscribe", uri="notes://a")
        listening.server.tools.add(note, name="another")
        listening.server.resource_updated("notes://a")
        await quiescence()
        assert session.heard_so_far() == [
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
            {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "notes://a"}},
        ]
        assert heard(client) == [("tools/list_changed", None), ("resources/updated", "notes://a")]


async def test_changes_from_other_threads_are_heard(listening: Listening) -> None:
    client = await listening.client(resourceSubscriptions=["notes://a"])
    await asyncio.to_thread(listening.server.resource_updated, "notes://a")
    assert (await client.next())["method"] == "notifications/resources/updated"


async def test_changes_in_one_turn_are_told_once(listening: Listening) -> None:
    client = await listening.client(**ALL)
    for number in range(10):
        listening.server.tools.add(note, name=f"tool-{number}")
    await quiescence()
    assert heard(client) == [("tools/list_changed", None)]


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
    assert heard(client) == []


async def test_what_was_told_before_the_end_is_sent_before_the_end(listening: Listening) -> None:
    client = await listening.client(**ALL)
    (listener,) = listening.server.notifier.listeners
    listener.notify("notifications/tools/list_changed", {})
    listening.server.end_listening()
    listener.notify("notifications/prompts/list_changed", {})
    await finished(listening.tasks[0])
    assert heard(client) == [("tools/list_changed", None)]


async def test_on_stdio_the_end_is_also_told_by_id(listening: Listening) -> None:
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
    error = {"code": -32603, "message": "too many listen streams: limit 2"}
    client = DescribingClient(listening.server)
    assert await finished(listening.open(client, **ALL)) == {"jsonrpc": "2.0", "error": error}
    assert client.heard.empty()
    listening.tasks[0].cancel()
    await asyncio.wait([listening.tasks[0]])
    await listening.client(**ALL)
    await listening.close()


async def test_there_is_a_limit_to_the_resources_of_a_stream() -> None:
    listening = Listening(make_server(limits=Limits(subscriptions=1)))
    client = DescribingClient(listening.server)
    listening.open(client, resourceSubscriptions=["notes://a", "notes://b"])
    assert (await client.next())["params"]["notifications"] == {"resourceSubscriptions": ["notes://a"]}
    await listening.close()


@pytest.mark.parametrize(
    "params",
    [{}, {"notifications": None}, {"notifications": []}, {"notifications": {"toolsListChanged": "x"}}],
)
async def test_a_filter_that_cannot_be_read_is_refused(params: Any) -> None:
    error = await DescribingClient(make_server()).error("subscriptions/listen", params)
    assert (error["code"], error["message"][:16]) == (-32602, "invalid params: ")


async def test_where_nothing_can_be_sent_nothing_can_be_heard() -> None:
    """A stream that could never say anything would only hold its client up."""
    server = make_server()
    answer = await server.handle(describe("subscriptions/listen", {"notifications": ALL}))
    assert answer is not None
    assert b'"code":-32601' in answer
    assert server.notifier.listeners == set()


async def test_a_client_that_does_not_read_is_let_go_after_a_while(listening: Listening) -> None:
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
    assert len(heard(client)) == ListenStream.MOST_WAITING


async def test_ending_twice_ends_once() -> None:
    listener = ListenStream(ListenFilter())
    listener.end()
    listener.end()
    assert (await listener.next(), listener._waiting.qsize()) == (None, 0)


async def test_a_stream_may_be_silent_for_longer_than_handlers_may() -> None:
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


async def test_nothing_is_left_of_streams_that_were_cancelled(listening: Listening) -> None:
    before = len(asyncio.all_tasks())
    for _ in range(50):
        await listening.client(**ALL)
    assert len(listening.server.notifier.listeners) == 50
    await listening.close()
    assert (len(asyncio.all_tasks()), listening.server.notifier.listeners) == (before, set())
