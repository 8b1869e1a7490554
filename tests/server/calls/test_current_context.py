"""`current_context()`: the context of the call, for functions that were not passed one."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import pytest

from assay import Context, Depends, Scope, Server, current_context
from assay.revisions.registry import HANDSHAKE
from assay.server.calls.current_call import CURRENT
from tests.driving.asgi import AsgiPeer
from tests.driving.client import TRANSPORTS, connect
from tests.driving.hosts import on_assay
from tests.driving.messages import call as call_message
from tests.driving.sockets import SocketPeer
from tests.server.scripted import ScriptedClient, ask, call, finished, reached

NEWEST = HANDSHAKE[-1]


def transport() -> str:
    return current_context().scope.transport


def text_of(result: Any) -> str:
    text: str = result["content"][0]["text"]
    return text


def make_server() -> Server:
    server = Server("test")

    @server.tool
    async def at_once() -> str:
        return transport()

    @server.tool
    async def later() -> str:
        await asyncio.to_thread(lambda: None)
        return await asyncio.create_task(asyncio.to_thread(transport))

    @server.tool
    def in_thread() -> str:
        return transport()

    return server


@pytest.mark.parametrize("name", ["at_once", "later", "in_thread"])
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_helper_gets_the_context_of_its_call(name: str, transport: str) -> None:
    expected = "http" if transport == "http-plain" else transport
    async with connect(make_server(), transport, NEWEST) as client:
        assert text_of(await client.call(name)) == expected


async def test_concurrent_calls_have_contexts_of_their_own() -> None:
    server, gathered = Server("test"), asyncio.Barrier(3)

    @server.tool
    async def principal() -> str:
        await gathered.wait()
        return str(current_context().principal)

    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "principal"}}
    names = ("ada", "bob", "eve")
    answers = await asyncio.gather(*(server.handle(message, scope=Scope(principal=name)) for name in names))
    for name, answer in zip(names, answers, strict=True):
        assert name in (answer or b"").decode()


async def test_requests_of_one_connection_do_not_mix() -> None:
    server = Server("test")

    @server.tool
    async def identify(suspend: bool) -> str:
        if suspend:
            await asyncio.to_thread(lambda: None)
        return str(current_context().request_id)

    async with on_assay(server.asgi()) as port, SocketPeer(f"http://localhost:{port}/mcp") as peer:
        for number, suspend in enumerate([False, True, False, True]):
            answer = await peer.post({**call_message("identify", suspend=suspend), "id": f"call {number}"})
            assert text_of(answer.json["result"]) == f"call {number}"


async def test_it_is_the_context_that_the_handler_has() -> None:
    server = Server("test")

    @server.tool
    async def compare(ctx: Context) -> None:
        await ctx.progress(2)
        await current_context().progress(1)  # smaller, and so not sent
        await current_context().progress(3)

    async with ScriptedClient(server) as client:
        await client.result("tools/call", name="compare", arguments={}, _meta={"progressToken": 7})
        assert [each["params"]["progress"] for each in client.received_so_far()] == [2, 3]


async def test_every_kind_of_handler_has_one() -> None:
    server, received = Server("test"), asyncio.Event()

    def provide() -> Iterator[str]:
        yield transport()
        transport()

    @server.prompt
    async def prompt(value: Annotated[str, Depends(provide)]) -> str:
        return value

    @server.resource("test://it")
    def resource() -> str:
        return transport()

    @server.method("own/method")
    async def method() -> dict[str, str]:
        return {"transport": transport()}

    @server.on_notification("own/notification")
    async def notified() -> None:
        assert transport() == "direct"
        received.set()

    got = await ask(server, "prompts/get", name="prompt")
    assert got["result"]["messages"][0]["content"]["text"] == "direct"
    read = await ask(server, "resources/read", uri="test://it")
    assert read["result"]["contents"][0]["text"] == "direct"
    assert (await ask(server, "own/method"))["result"] == {"transport": "direct"}
    await server.handle({"jsonrpc": "2.0", "method": "own/notification"})
    await reached(received)


async def test_nested_call_does_not_replace_it() -> None:
    inner, outer = make_server(), Server("outer")

    @outer.tool
    async def gateway() -> str:
        nested = text_of(await call(inner, "later"))
        direct = (await inner.tools.call("at_once")).content[0].text  # type: ignore[union-attr]
        return f"{nested} {direct} {transport()}"

    async with AsgiPeer(outer.asgi()) as peer:
        answer = await peer.post(call_message("gateway"))
    assert text_of(answer.json["result"]) == "direct direct http"


async def test_outside_of_a_call_it_raises() -> None:
    server = make_server()
    await call(server, "at_once")
    await server.tools.call("later")
    assert CURRENT.get(None) is None
    with pytest.raises(RuntimeError, match="no call is being served here: use current_context"):
        current_context()


async def test_task_that_outlives_its_call_gets_an_error() -> None:
    server, release = Server("test"), asyncio.Event()
    tasks: list[asyncio.Task[str]] = []

    async def afterwards() -> str:
        await release.wait()
        return transport()

    @server.tool
    async def leave() -> None:
        tasks.append(asyncio.create_task(afterwards()))

    await call(server, "leave")
    release.set()
    with pytest.raises(RuntimeError, match="the call has ended: read what you need from its context before"):
        await finished(tasks[0])


LATE = """
import asyncio
from assay import Server

server = Server("test")

@server.tool
async def late() -> str:
    from assay import current_context
    return current_context().scope.transport

async def main():
    first = await server.tools.call("late")
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "late"}}
    await server.handle(message)
    second = await server.handle(message)
    print(first.content[0].text, b"direct" in second)

import sys
assert "assay.server.calls.current_context" not in sys.modules
asyncio.run(main())
"""


def test_server_that_was_used_before_the_first_import_is_tracked_afterwards() -> None:
    outcome = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)
    assert outcome.stdout.split() == ["direct", "True"]
