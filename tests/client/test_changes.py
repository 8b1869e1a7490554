"""Changes and progress as asynchronous iterators, in both ways of announcing them."""

from __future__ import annotations

import asyncio
import gc
import json
from typing import Any, Final

import pytest

from assay import (
    Change,
    Client,
    ClientError,
    ClientLimits,
    Context,
    Server,
    ServerDied,
    ServerError,
    SyncClient,
    Timeout,
    ToolFailed,
)
from assay.revisions.registry import DATES
from tests.client.everything import TRANSPORTS, connected
from tests.client.scripted import (
    DISCOVERY,
    INITIALIZED,
    HttpRequest,
    Writer,
    http_response,
    process,
    raw_http,
    result,
)
from tests.driving.answer import PATIENCE

NEWEST, BEFORE = DATES[-1], DATES[-2]
WATCHED: Final = "test://watched-resource"
transports = pytest.mark.parametrize("transport", TRANSPORTS)
both = pytest.mark.parametrize("revision", [BEFORE, NEWEST])


@transports
@both
async def test_changes_of_a_resource_arrive_while_subscribed(transport: str, revision: str) -> None:
    async with connected(transport, revision=revision) as client, asyncio.timeout(PATIENCE):
        async with client.subscribe(WATCHED) as changes:
            await client.call("test_update_watched_resource")
            assert await anext(changes) == Change("resource", WATCHED)
        with pytest.raises(StopAsyncIteration):
            await anext(changes)


@transports
@both
async def test_changes_of_a_list_arrive(transport: str, revision: str) -> None:
    async with (
        connected(transport, revision=revision) as client,
        client.listen("tools") as changes,
        client.listen("prompts") as others,
        asyncio.timeout(PATIENCE),
    ):
        await client.call("test_trigger_tool_change")
        assert await anext(changes) == Change("tools")
        await client.call("test_trigger_prompt_change")
        assert await anext(others) == Change("prompts")


@both
async def test_equal_changes_that_wait_are_one(revision: str) -> None:
    async with (
        connected("memory", revision=revision) as client,
        client.listen("tools", uris=[WATCHED]) as changes,
        asyncio.timeout(PATIENCE),
    ):
        for _ in range(3):
            await client.call("test_trigger_tool_change")
            await client.call("test_update_watched_resource")
        waiting = {await anext(changes), await anext(changes)}
        assert waiting == {Change("tools"), Change("resource", WATCHED)}


async def test_the_oldest_of_too_many_changes_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    async with (
        raw_http(announcing([f"test://a/{number}" for number in range(5)])) as server,
        Client(server.url, limits=ClientLimits(notices=3)) as client,
        client.subscribe("test://a") as changes,
    ):
        await client.ping()
        uris = [(await anext(changes)).uri for _ in range(3)]
    assert uris == ["test://a/2", "test://a/3", "test://a/4"]
    assert caplog.text.count("some are dropped") == 1


LISTENING: Final = {
    **DISCOVERY,
    "capabilities": {"resources": {"subscribe": True}, "tools": {"listChanged": True}},
}


def announcing(uris: list[str], acknowledged: dict[str, Any] | None = None) -> Any:
    """A server that announces changes of these resources at once, and answers other requests after that."""
    announced = asyncio.Event()

    async def respond(request: HttpRequest, writer: Writer) -> None:
        message = request.message
        if message["method"] == "subscriptions/listen":
            meta = {"io.modelcontextprotocol/subscriptionId": message["id"]}
            accepted = message["params"]["notifications"] if acknowledged is None else acknowledged
            notices = [
                ("subscriptions/acknowledged", {"notifications": accepted}),
                *(("resources/updated", {"uri": uri}) for uri in uris),
            ]
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            for name, params in notices:
                notice = {
                    "jsonrpc": "2.0",
                    "method": f"notifications/{name}",
                    "params": {**params, "_meta": meta},
                }
                writer.write(f"data: {json.dumps(notice)}\n\n".encode())
            announced.set()
        else:
            if len(request.message.get("params", {})) > 0 and request.message["id"] != "assay-1":
                await announced.wait()
            writer.write(http_response("200 OK", result(request, LISTENING)))

    return respond


async def test_what_the_server_does_not_confirm_is_an_error() -> None:
    async with (
        raw_http(announcing([], acknowledged={"toolsListChanged": True})) as server,
        Client(server.url) as client,
    ):
        with pytest.raises(ClientError, match="does not announce changes of test://a"):
            await client.subscribe("test://a").open()


@both
async def test_what_the_server_does_not_declare_is_an_error(revision: str) -> None:
    server = Server("fixed", capabilities={"tools": True, "tools.listChanged": False})
    async with Client(server, revision=revision) as client:
        for changes, names in (
            (client.listen(), "its lists"),
            (client.listen("prompts"), "prompts"),
            (client.subscribe("test://a"), "test://a"),
        ):
            with pytest.raises(ClientError, match=f"does not announce changes of {names}"):
                await anext(changes)


def test_mistakes_are_refused_at_once() -> None:
    client: Any = Client(Server("s"))
    with pytest.raises(ValueError, match="not of tool"):
        client.listen("tool")
    with pytest.raises(TypeError, match="needs the URI"):
        client.subscribe()


@both
async def test_closing_the_client_ends_the_iteration(revision: str) -> None:
    async with connected("memory", revision=revision) as client, asyncio.timeout(PATIENCE):
        changes = await client.subscribe(WATCHED).open()
        waiting = asyncio.ensure_future(anext(changes, None))
        await client.ping()
        await client.close()
        assert await waiting is None
        assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_letting_go_of_an_iterator_ends_its_stream() -> None:
    async with connected("memory") as client, asyncio.timeout(PATIENCE):
        before = asyncio.all_tasks()
        async with client.listen("prompts"):  # the server's own tasks have started
            before = asyncio.all_tasks() - before
        running = asyncio.all_tasks()
        await client.subscribe(WATCHED).open()
        gc.collect()
        while asyncio.all_tasks() - running:
            await client.ping()


async def test_leaving_unsubscribes_once_the_last_iterator_has_left() -> None:
    methods: list[str] = []

    async def respond(request: HttpRequest, writer: Writer) -> None:
        message = request.message if request.body else {"method": "GET"}
        methods.append(message["method"])
        agreed = {**INITIALIZED, "capabilities": {"resources": {"subscribe": True}}}
        if message["method"] == "GET":
            writer.write(http_response("405 Method Not Allowed"))
        elif "id" in message:
            writer.write(http_response("200 OK", result(request, agreed)))
        else:
            writer.write(http_response("202 Accepted"))

    async with raw_http(respond) as server, Client(server.url, revision=BEFORE) as client:
        async with client.subscribe("test://a"):
            async with client.subscribe("test://a"):
                pass
            assert "resources/unsubscribe" not in methods
        assert methods.count("resources/unsubscribe") == 1


async def test_a_subscription_that_the_server_refuses_is_its_error() -> None:
    async with connected("memory", revision=BEFORE) as client:
        for _ in range(2):
            with pytest.raises(ServerError, match="not found"):
                await anext(client.subscribe("test://none"))


async def test_a_server_that_never_confirms_is_a_timeout() -> None:
    silent = f"""
discovery["capabilities"] = {LISTENING["capabilities"]!r}
for message in messages():
    pass
"""
    async with Client(process(silent), revision=NEWEST, timeout=0.1) as client:
        with pytest.raises(Timeout, match=r"did not confirm the subscription in 0\.1 s"):
            await client.listen("tools").open()
        assert len(client._hub.tasks) == 0


LISTENING_PROCESS: Final = f"""
discovery["capabilities"] = initialized["capabilities"] = {LISTENING["capabilities"]!r}
for message in messages():
    if message["method"] == "subscriptions/listen":
        meta = {{"io.modelcontextprotocol/subscriptionId": message["id"]}}
        asked = message["params"]["notifications"]
        params = {{"_meta": meta, "notifications": asked}}
        send({{"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}})
    elif message["method"] == "resources/subscribe":
        answer(message, {{}})
    elif message["method"] in ("tools/call", "ping"):
        os._exit(3)
    else:
        answer(message, {{}})
"""


@both
async def test_an_iterator_survives_the_restart_of_the_server(revision: str) -> None:
    async with (
        Client(process(LISTENING_PROCESS), revision=revision) as client,
        client.listen("tools", uris=["test://a"]) as changes,
        asyncio.timeout(PATIENCE),
    ):
        with pytest.raises(ServerDied):
            await client.call("die")
        # What may have been missed is reported when the server announces changes again.
        assert [await anext(changes), await anext(changes)] == [
            Change("tools"),
            Change("resource", "test://a"),
        ]


CANCELLING_PROCESS: Final = f"""
discovery["capabilities"] = {LISTENING["capabilities"]!r}
count = 0
for message in messages():
    if message["method"] != "subscriptions/listen":
        answer(message, {{}})
        continue
    count += 1
    meta = {{"io.modelcontextprotocol/subscriptionId": message["id"]}}
    params = {{"_meta": meta, "notifications": message["params"]["notifications"]}}
    send({{"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}})
    if count == 1:
        params = {{"requestId": message["id"]}}
        send({{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}})
"""


async def test_a_stream_that_the_server_cancels_is_opened_again() -> None:
    async with (
        Client(process(CANCELLING_PROCESS), revision=NEWEST) as client,
        client.listen("tools") as changes,
        asyncio.timeout(PATIENCE),
    ):
        assert await anext(changes) == Change("tools")


# Progress.


@transports
@both
async def test_progress_of_a_call_is_an_iterator(transport: str, revision: str) -> None:
    async with (
        connected(transport, revision=revision) as client,
        client.start_tool("test_tool_with_progress") as call,
    ):
        assert [report.progress async for report in call] == [0, 50, 100]
        assert call.is_done
        assert not (await call).is_error


async def test_leaving_a_call_cancels_it_and_failures_are_raised_by_waiting() -> None:
    server = Server("slow")
    cancelled = asyncio.Event()

    @server.tool
    async def wait(ctx: Context) -> None:
        try:
            await ctx.report_progress(1)
            await asyncio.get_running_loop().create_future()
        finally:
            cancelled.set()

    @server.tool
    async def fail(ctx: Context) -> None:
        for number in range(300):
            await ctx.report_progress(number + 1)
        raise ValueError("broken")

    async with Client(server) as client:
        async with client.start_tool("wait") as call:
            assert (await anext(call)).progress == 1
        assert cancelled.is_set()
        failing = client.start_tool("fail")
        with pytest.raises(ToolFailed):
            await failing
        reports = [report.progress async for report in failing]
        assert len(reports) <= 100 and reports[-1] == 300


async def test_the_sync_client_iterates_over_changes_and_progress() -> None:
    def use(url: str) -> None:
        with SyncClient(url) as client:
            with client.subscribe(WATCHED) as changes:
                client.call("test_update_watched_resource")
                assert next(iter(changes)) == Change("resource", WATCHED)
            with client.listen("tools") as changes:
                client.call("test_trigger_tool_change")
                assert next(changes) == Change("tools")
            with client.start_tool("test_tool_with_progress") as call:
                assert [report.progress for report in call] == [0, 50, 100]
                assert not call.result().is_error

    async with TRANSPORTS["http"]() as url:
        await asyncio.to_thread(use, url)
