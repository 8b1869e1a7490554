"""The scripted server on WebSocket."""

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
from tests.lab.harness.scripted_server.raw_client import message, open_stage


async def ask(socket: ClientConnection, body: bytes) -> Any:
    await socket.send(body.decode())
    return json.loads(await socket.recv())


async def test_messages_are_text_frames_both_ways_and_recorded() -> None:
    async with open_stage(Transport.WEBSOCKET) as running:
        socket = await connect(running.stage.url, subprotocols=[Subprotocol("mcp")])
        assert socket.subprotocol == "mcp"
        assert await ask(socket, message("ping", 1)) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        await (await socket.ping())
        await socket.send(b"binary")
        await running.stage.server.announce("notifications/tools/list_changed")
        assert json.loads(await socket.recv())["method"] == "notifications/tools/list_changed"
        assert (await ask(socket, message("ping", 2)))["id"] == 2
        await socket.close()
    kinds = [kind for sender, kind in running.frames("1/ws") if sender is Sender.SUBJECT]
    assert kinds == [Kind.TEXT, Kind.BINARY, Kind.TEXT, Kind.CONTROL, Kind.END]


async def test_subprotocol_is_only_selected_if_offered() -> None:
    async with open_stage(Transport.WEBSOCKET) as running, connect(running.stage.url) as socket:
        assert socket.subprotocol is None


async def test_other_paths_and_plain_http_are_refused() -> None:
    async with open_stage(Transport.WEBSOCKET) as running:
        with pytest.raises(InvalidStatus, match="404"):
            await connect(f"{running.stage.url}/more")
        answer = await (await running.connect()).ask("GET", "/mcp")
        assert answer.head.status == 426


async def test_scenario_closes_the_connection() -> None:
    async with open_stage(Transport.WEBSOCKET) as running:

        @running.stage.server.on("die")
        async def die(cycle: RequestCycle) -> Answer:
            cycle.channel.cut()
            return DONE

        async with connect(running.stage.url) as socket:
            await socket.send(message("die", 1).decode())
            with pytest.raises(ConnectionClosed):
                await socket.recv()
