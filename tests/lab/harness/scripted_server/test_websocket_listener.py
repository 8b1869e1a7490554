"""The host on WebSocket."""

import json
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.transport import Transport
from tests.lab.harness.scripted_server.callers import hosted, message


async def asked(socket: ClientConnection, body: bytes) -> Any:
    await socket.send(body.decode())
    return json.loads(await socket.recv())


async def test_messages_are_text_frames_both_ways_and_recorded() -> None:
    async with hosted(Transport.WEBSOCKET) as one:
        socket = await connect(one.hosting.url, subprotocols=[Subprotocol("mcp")])
        assert socket.subprotocol == "mcp"
        assert await asked(socket, message("ping", 1)) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        await (await socket.ping())
        await socket.send(b"binary")
        await one.hosting.host.announce("notifications/tools/list_changed")
        assert json.loads(await socket.recv())["method"] == "notifications/tools/list_changed"
        assert (await asked(socket, message("ping", 2)))["id"] == 2
        await socket.close()
    kinds = [kind for sender, kind in one.frames("1/ws") if sender is Sender.SUBJECT]
    assert kinds == [Kind.TEXT, Kind.BINARY, Kind.TEXT, Kind.CONTROL, Kind.END]


async def test_who_does_not_offer_the_subprotocol_is_not_told_it() -> None:
    async with hosted(Transport.WEBSOCKET) as one, connect(one.hosting.url) as socket:
        assert socket.subprotocol is None


async def test_other_paths_and_plain_http_are_turned_away() -> None:
    async with hosted(Transport.WEBSOCKET) as one:
        with pytest.raises(InvalidStatus, match="404"):
            await connect(f"{one.hosting.url}/more")
        answer = await (await one.call()).ask("GET", "/mcp")
        assert answer.head.status == 426


async def test_scenario_may_hang_up() -> None:
    async with hosted(Transport.WEBSOCKET) as one:

        @one.hosting.host.on("die")
        async def die(cycle: RequestCycle) -> Answer:
            cycle.channel.cut()
            return DONE

        async with connect(one.hosting.url) as socket:
            await socket.send(message("die", 1).decode())
            with pytest.raises(ConnectionClosed):
                await socket.recv()
