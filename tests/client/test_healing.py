"""What the client repairs by itself, what it leaves to the caller, and the states that it shows."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import serve

from assay import (
    Client,
    ClientClosed,
    ClientLimits,
    ClientState,
    ConnectionFailed,
    HttpFailure,
    Retry,
    Server,
    ServerDied,
    StateChange,
    SyncClient,
)
from tests.client.scripted import (
    DISCOVERY,
    HttpRequest,
    Responder,
    Writer,
    answering,
    http_response,
    process,
    raw_http,
    result,
)
from tests.driving.answer import PATIENCE

QUICK = Retry(first=0.01, longest=0.02, deadline=PATIENCE)
READ_ONLY = {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
REPEATABLE = {"name": "set", "inputSchema": {"type": "object"}, "annotations": {"idempotentHint": True}}
EFFECT = {"name": "pay", "inputSchema": {"type": "object"}}
LIST = {"tools": [READ_ONLY, REPEATABLE, EFFECT], "content": []}


class Changes:
    """The states of a client, in order."""

    def __init__(self) -> None:
        self.all: list[StateChange] = []

    def __call__(self, change: StateChange) -> None:
        self.all.append(change)

    @property
    def names(self) -> list[str]:
        return [change.state.value for change in self.all]


def failing_first(calls: list[str], failures: int = 1, status: str = "") -> Responder:
    """Fails the first calls, by closing the connection or with a status; then answers."""

    async def respond(request: HttpRequest, writer: Writer) -> None:
        if request.message["method"] != "tools/call":
            writer.write(http_response("200 OK", result(request, LIST)))
            return
        calls.append(request.message["params"]["name"])
        if len(calls) > failures:
            writer.write(http_response("200 OK", result(request, LIST)))
        elif status:
            writer.write(http_response(status, extra="Retry-After: 0\r\n"))
        else:
            writer.transport.abort()

    return answering(respond)


@pytest.mark.parametrize("name", ["look", "set"])
async def test_a_call_of_a_tool_with_a_hint_is_repeated_after_a_lost_connection(name: str) -> None:
    calls: list[str] = []
    async with raw_http(failing_first(calls, 3)) as server, Client(server.url, retry=QUICK) as client:
        await client.tools()
        await client.call(name)
        assert calls == [name] * 4


async def test_a_hint_that_was_not_read_does_not_count() -> None:
    calls: list[str] = []
    async with raw_http(failing_first(calls)) as server, Client(server.url, retry=QUICK) as client:
        with pytest.raises(ConnectionFailed) as failure:
            await client.call("look")
        assert calls == ["look"]
        assert not failure.value.unsent


@pytest.mark.parametrize(("idempotent", "attempts"), [(True, 2), (None, 1), (False, 1)])
async def test_the_user_decides_about_tools_without_hints(idempotent: bool | None, attempts: int) -> None:
    calls: list[str] = []
    async with raw_http(failing_first(calls)) as server, Client(server.url, retry=QUICK) as client:
        await client.tools()
        with contextlib.suppress(ConnectionFailed):
            await client.call_tool("pay", idempotent=idempotent)
        assert calls == ["pay"] * attempts


async def test_the_user_overrides_a_hint() -> None:
    calls: list[str] = []
    async with raw_http(failing_first(calls)) as server, Client(server.url, retry=QUICK) as client:
        await client.tools()
        with pytest.raises(ConnectionFailed):
            await client.call_tool("look", idempotent=False)
        assert calls == ["look"]


@pytest.mark.parametrize("status", ["429 Too Many", "502 Bad Gateway", "503 Busy", "504 Late"])
async def test_a_busy_server_gets_idempotent_requests_again(status: str) -> None:
    calls: list[str] = []
    responder = failing_first(calls, 2, status)
    async with raw_http(responder) as server, Client(server.url, retry=QUICK) as client:
        await client.call_tool("look", idempotent=True)
        assert len(calls) == 3


async def test_a_busy_server_does_not_get_other_calls_again() -> None:
    calls: list[str] = []
    responder = failing_first(calls, 2, "503 Busy")
    async with raw_http(responder) as server, Client(server.url, retry=QUICK) as client:
        with pytest.raises(HttpFailure, match="busy or stopping"):
            await client.call("pay")
        assert calls == ["pay"]


async def test_a_demanded_pause_beyond_the_deadline_is_not_waited_for() -> None:
    async def respond(request: HttpRequest, writer: Writer) -> None:
        writer.write(http_response("503 Busy", extra="Retry-After: 3600\r\n"))

    async with raw_http(answering(respond)) as server, Client(server.url, retry=QUICK) as client:
        with pytest.raises(HttpFailure, match=r"Retry-After: 3600 s"):
            await client.tools()
        assert client.state is ClientState.LOST


class Stoppable:
    """An HTTP server that can be away for a while, on the same port."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._server: asyncio.Server | None = None
        self._writers: list[Writer] = []
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/mcp"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        from tests.client.scripted import _read

        self._writers.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                request = await _read(reader)
                method = request.message["method"]
                self.calls.append(method)
                value = DISCOVERY if method == "server/discover" else LIST
                # No idle connection, so that the client cannot use one that is about to close.
                writer.write(http_response("200 OK", result(request, value), extra="Connection: close\r\n"))


@contextlib.asynccontextmanager
async def stoppable() -> AsyncIterator[Stoppable]:
    server = Stoppable()
    await server.start()
    try:
        async with asyncio.timeout(3 * PATIENCE):
            yield server
    finally:
        await server.stop()


async def test_a_call_waits_for_a_server_that_is_away_because_it_was_not_sent() -> None:
    changes = Changes()
    reconnecting = asyncio.Event()

    def watch(change: StateChange) -> None:
        changes(change)
        if change.state is ClientState.RECONNECTING:
            reconnecting.set()

    async with stoppable() as server, Client(server.url, retry=QUICK, on_state=watch) as client:
        await server.stop()
        call = asyncio.create_task(client.call("pay"))
        await reconnecting.wait()
        assert client.state is ClientState.RECONNECTING
        await server.start()
        await call
        assert server.calls.count("tools/call") == 1
        assert changes.names == ["connecting", "open", "reconnecting", "open"]
        assert isinstance(changes.all[2].error, ConnectionFailed)


async def test_a_server_that_stays_away_is_an_error_and_the_next_call_tries_again() -> None:
    changes = Changes()
    policy = Retry(first=0.01, deadline=0.05)
    async with stoppable() as server, Client(server.url, retry=policy, on_state=changes) as client:
        await server.stop()
        with pytest.raises(ConnectionFailed, match="connection refused") as failure:
            await client.call("pay")
        assert failure.value.unsent
        assert client.state is ClientState.LOST
        await server.start()
        await client.call("pay")
        assert changes.names == ["connecting", "open", "reconnecting", "lost", "open"]


async def test_opening_waits_for_a_server_that_is_starting_if_the_user_wants_it() -> None:
    server = Stoppable()
    client = Client(server.url, retry=Retry(opening=PATIENCE, first=0.01, longest=0.02))
    opening = asyncio.create_task(client.open())
    await asyncio.wait([opening], timeout=0.05)
    assert client.state is ClientState.CONNECTING
    await server.start()
    try:
        async with asyncio.timeout(PATIENCE):
            await opening
            await client.call("pay")
    finally:
        await client.close()
        await server.stop()


async def test_closing_ends_an_opening_that_waits() -> None:
    server = Stoppable()
    client = Client(server.url, retry=Retry(opening=3600, first=600, longest=600))
    opening = asyncio.create_task(client.open())
    await asyncio.wait([opening], timeout=0.05)
    async with asyncio.timeout(PATIENCE):
        await client.close()
        with pytest.raises(ClientClosed):
            await opening
    assert client.state is ClientState.CLOSED


async def test_closing_ends_a_call_that_waits_for_its_server() -> None:
    policy = Retry(first=600, longest=600, deadline=3600)
    async with stoppable() as server:
        client = await Client(server.url, retry=policy).open()
        await server.stop()
        call = asyncio.create_task(client.call("pay"))
        await asyncio.wait([call], timeout=0.05)
        async with asyncio.timeout(PATIENCE):
            await client.close()
            with pytest.raises(ClientClosed):
                await call


DYING = (
    "count = {path!r}\n"
    "starts = int(open(count).read() or 0) + 1\n"
    "open(count, 'w').write(str(starts))\n"
    "if starts in {dies_at_start}: sys.exit(f'start {{starts}} failed')\n"
    "for message in messages():\n"
    "    if message['method'] == 'tools/call' and starts not in {stays}: os._exit(7)\n"
    "    answer(message, {{'tools': [], 'content': []}})"
)


def dying(path: Path, dies_at_start: tuple[int, ...] = (), stays: tuple[int, ...] = ()) -> Any:
    path.write_text("")
    return process(DYING.format(path=str(path), dies_at_start=dies_at_start, stays=stays))


async def test_a_dead_process_is_started_again_and_its_states_are_shown(tmp_path: Path) -> None:
    changes = Changes()
    target = dying(tmp_path / "starts")
    policy = Retry(first=0.01)
    async with Client(target, retry=policy, on_state=changes) as client:
        with pytest.raises(ServerDied):
            await client.call("die")
        assert client.state is ClientState.LOST
        assert await client.tools() == []
        with pytest.raises(ServerDied):
            await client.call("die")
        for _ in range(2):
            with pytest.raises(ServerDied) as failure:
                await client.tools()
            assert failure.value.exit_code == 7
        assert client.state is ClientState.FAILED
    assert changes.names == [
        *("connecting", "open", "lost", "reconnecting", "open", "lost", "failed", "closed"),
    ]


async def test_a_process_that_does_not_start_again_is_tried_as_often_as_allowed(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    target = dying(starts, dies_at_start=(2, 3), stays=(4,))
    async with Client(target, retry=Retry(first=0.01, restarts=3)) as client:
        await client.call_tool("die", idempotent=True)
        assert starts.read_text() == "4"


async def test_restarts_count_anew_after_a_stable_time(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    async with Client(dying(starts), retry=Retry(first=0.01, restarts=1, settled=0)) as client:
        for _ in range(3):
            with pytest.raises(ServerDied):
                await client.call("die")
            assert await client.tools() == []
        assert starts.read_text() == "4"


async def test_calls_at_the_same_time_share_one_restart(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    async with Client(dying(starts), retry=Retry(first=0.01)) as client:
        with pytest.raises(ServerDied):
            await client.call("die")
        await asyncio.gather(*(client.tools() for _ in range(5)))
        assert starts.read_text() == "2"


async def test_a_cancelled_call_does_not_stop_the_restart_that_others_wait_for(tmp_path: Path) -> None:
    async with Client(dying(tmp_path / "starts"), retry=Retry(first=0.05)) as client:
        with pytest.raises(ServerDied):
            await client.call("die")
        first, second = (asyncio.create_task(client.tools()) for _ in range(2))
        await asyncio.wait([first], timeout=0.01)
        first.cancel()
        assert await second == []
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_closing_ends_a_restart(tmp_path: Path) -> None:
    client = await Client(dying(tmp_path / "starts"), retry=Retry(first=600, longest=600)).open()
    with pytest.raises(ServerDied):
        await client.call("die")
    call = asyncio.create_task(client.tools())
    await asyncio.wait([call], timeout=0.05)
    async with asyncio.timeout(PATIENCE):
        await client.close()
        with pytest.raises(ClientClosed):
            await call


async def test_a_closed_websocket_is_opened_again_within_the_deadline() -> None:
    async def behave(connection: Any) -> None:
        async for text in connection:
            message = json.loads(text)
            if message["method"] == "server/discover":
                await connection.send(
                    json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": DISCOVERY})
                )
            elif message["method"] == "tools/call":
                await connection.close()
            else:
                await connection.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": LIST}))

    changes = Changes()
    async with serve(behave, "127.0.0.1", 0, subprotocols=["mcp"], compression=None) as server:  # type: ignore[list-item]
        port = next(iter(server.sockets)).getsockname()[1]
        url = f"ws://127.0.0.1:{port}/"
        async with Client(url, retry=QUICK, on_state=changes) as client:
            for _ in range(2):
                with pytest.raises(ConnectionFailed):
                    await client.call("pay")
                assert client.state is ClientState.LOST
                assert len(await client.tools()) == 3
    assert changes.names == ["connecting", *["open", "lost", "reconnecting"] * 2, "open", "closed"]


async def test_a_callback_that_is_a_coroutine_function_gets_every_change_in_order() -> None:
    changes = Changes()

    async def slow(change: StateChange) -> None:
        await asyncio.wait([asyncio.create_task(asyncio.Event().wait())], timeout=0.001)
        changes(change)

    async with Client(Server("x", capabilities={"tools": True}), on_state=slow) as client:
        await client.tools()
    assert changes.names == ["connecting", "open", "closed"]


async def test_a_callback_that_hangs_does_not_delay_closing_for_long() -> None:
    async def hang(change: StateChange) -> None:
        await asyncio.get_running_loop().create_future()

    limits = ClientLimits(close_timeout=0.05)
    async with asyncio.timeout(PATIENCE):
        async with Client(Server("x"), on_state=hang, limits=limits):
            pass


async def test_an_opening_that_fails_is_a_state() -> None:
    changes = Changes()
    client = Client(Stoppable().url, on_state=changes)
    with pytest.raises(ConnectionFailed):
        await client.open()
    assert changes.names == ["connecting", "failed"]
    assert client.state is ClientState.FAILED
    await client.close()
    assert client.state is ClientState.CLOSED


def test_the_sync_client_shows_the_state() -> None:
    client = SyncClient(Server("x"))
    assert client.state is ClientState.CLOSED
    with client:
        assert client.state is ClientState.OPEN
    assert client.state is ClientState.CLOSED
