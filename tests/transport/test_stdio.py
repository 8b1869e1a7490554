"""The stdio transport in a separate process: its output, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from assay.revisions.registry import HANDSHAKE
from tests.driving.answer import PATIENCE
from tests.driving.messages import call, initialize, notification, request
from tests.driving.process import StdioProcess, stdio_process

TALKER = str(Path(__file__).with_name("talker.py"))
PING = request("ping", request_id="ping")
PONG = {"jsonrpc": "2.0", "id": "ping", "result": {}}


class Gate:
    """A named pipe at which a tool waits for the test."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        os.mkfifo(path)

    async def open(self) -> None:
        async with asyncio.timeout(PATIENCE):
            descriptor = await asyncio.get_running_loop().run_in_executor(
                None, os.open, self.path, os.O_WRONLY
            )
        os.close(descriptor)


@asynccontextmanager
async def talking(*arguments: str) -> AsyncIterator[StdioProcess]:
    """A server after its handshake."""
    async with stdio_process(TALKER, *arguments) as server:
        opened = await server.ask(initialize(HANDSHAKE[-1]))
        assert opened["result"]["protocolVersion"] == HANDSHAKE[-1].date
        await server.send(notification("notifications/initialized"))
        yield server


def text_of(answer: Any) -> str:
    text: str = answer["result"]["content"][0]["text"]
    return text


def jsonl(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{not json}", -32700),
        (b"\xff\xfe\xfa", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\xc3\x28"}}', -32700),
        (b'{"jsonrpc":"2.0",\x00"id":1,"method":"ping"}', -32700),
        (b"\x00", -32700),
        (b"[" * 200 + b"]" * 200, -32700),
        (b"x" * 200_000, -32600),
        (b'{"jsonrpc":"2.0","method":"' + b"m" * 200_000 + b'"}', -32600),
        (b"17", -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
    ],
    ids=["json", "bytes", "utf-8", "nul-inside", "nul", "deep", "long", "long-message", "number", "null-id"],
)
async def test_bad_line_is_refused_and_the_next_one_served(line: bytes, code: int) -> None:
    """The error has no id, because none was readable."""
    async with talking() as server:
        await server.write(line + b"\n")
        refused = await server.receive()
        assert refused["error"]["code"] == code
        assert "id" not in refused
        assert await server.ask(PING) == PONG
        server.end_input()
        assert await server.rest() == []
        assert await server.exit_code() == 0


async def test_line_endings_of_all_platforms_are_accepted() -> None:
    async with talking() as server:
        await server.write(json.dumps(PING).encode() + b"\r\n")
        assert await server.receive() == PONG
        await server.write(b"\n\r\n  \n" + jsonl(PING))
        assert await server.receive() == PONG


async def test_messages_may_arrive_in_any_chunks() -> None:
    async with talking() as server:
        for byte in jsonl(call("echo", text="ü \u2028 \U0001f600")):
            await server.write(bytes([byte]))
        assert text_of(await server.receive()) == "ü \u2028 \U0001f600"
        await server.write(jsonl(*(request("ping", request_id=number) for number in range(500))))
        assert [(await server.receive())["id"] for _ in range(500)] == list(range(500))


async def test_newlines_in_values_stay_within_their_line() -> None:
    """STD-01."""
    async with talking() as server:
        assert text_of(await server.ask(call("echo", text="a\nb\r\nc"))) == "a\nb\r\nc"


async def test_nothing_but_protocol_reaches_standard_output() -> None:
    """STD-02: not the output of tools or their children, nor earlier output of the process."""
    async with talking("speaks-last") as server:
        assert text_of(await server.ask(call("chatter"))) == "quiet"
        assert text_of(await server.ask(call("child"))) == "exit 0"
        server.end_input()
        assert await server.exit_code() == 0
        for text in (b"printed by a tool", b"written by a tool", b"descriptor 1", b"printed by a child"):
            assert text in server.errors
        assert b"printed before the server runs" in server.errors
        assert await server.line() == b"printed afterwards\n"


async def test_requests_are_served_concurrently() -> None:
    async with talking() as server:
        await server.write(jsonl(*(call("meet", number, parties=3) for number in range(3))))
        assert {(await server.receive())["id"] for _ in range(3)} == {0, 1, 2}


async def test_end_of_input_lets_work_finish(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    async with talking() as server:
        await server.send(call("linger", path=gate.path))
        assert (await server.receive())["method"] == "notifications/message"
        server.end_input()
        await gate.open()
        assert [text_of(answer) for answer in await server.rest() if "id" in answer] == ["finished"]
        assert await server.exit_code() == 0


async def test_end_of_input_serves_a_last_line_without_newline() -> None:
    async with talking() as server:
        await server.write(json.dumps(PING).encode())
        server.end_input()
        assert await server.receive() == PONG
        assert await server.exit_code() == 0


@pytest.mark.parametrize("tool", ["hold", "stick"])
@pytest.mark.parametrize("ending", ["end of input", "SIGTERM"])
async def test_server_ends_in_time_with_stuck_handlers(tool: str, ending: str) -> None:
    async with talking() as server:
        await server.send(call(tool))
        assert (await server.receive())["method"] == "notifications/message"
        if ending == "SIGTERM":
            server.process.send_signal(signal.SIGTERM)
        else:
            server.end_input()
        (answer,) = await server.rest()
        assert answer["error"] == {"code": -32603, "message": "the server is stopping"}
        assert await server.exit_code() == 0
        assert b"Traceback" not in server.errors


async def test_sigterm_lets_work_finish(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    async with talking() as server:
        await server.send(call("linger", path=gate.path))
        assert (await server.receive())["method"] == "notifications/message"
        server.process.send_signal(signal.SIGTERM)
        await gate.open()
        assert text_of(await server.receive()) == "finished"
        assert await server.exit_code() == 0


async def test_idle_server_ends_with_its_input() -> None:
    async with stdio_process(TALKER) as server:
        server.end_input()
        assert await server.exit_code() == 0


async def test_input_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "input.ndjson"
    path.write_bytes(jsonl(initialize(HANDSHAKE[-1]), notification("notifications/initialized"), PING))
    with path.open("rb") as file:
        async with stdio_process(TALKER, stdin=file) as server:
            assert (await server.receive())["id"] == "initialize"
            assert await server.receive() == PONG
            assert await server.exit_code() == 0


async def test_output_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "output.ndjson"
    with path.open("wb") as file:
        async with stdio_process(TALKER, stdout=file) as server:
            await server.write(jsonl(initialize(HANDSHAKE[-1]), PING))
            server.end_input()
            assert await server.exit_code() == 0
    first, second, *_ = path.read_bytes().splitlines()
    assert (json.loads(first)["id"], json.loads(second)) == ("initialize", PONG)


async def test_empty_input_ends_the_server() -> None:
    """`server.py </dev/null`: the event loop cannot watch this device."""
    async with stdio_process(TALKER, stdin=asyncio.subprocess.DEVNULL) as server:
        assert await server.exit_code() == 0
        assert b"Traceback" not in server.errors


async def test_disconnect_fails_no_handler(tmp_path: Path) -> None:
    gate, proof = Gate(tmp_path / "gate"), tmp_path / "proof"
    output, inherited = os.pipe()
    async with stdio_process(TALKER, stdout=inherited) as server:
        os.close(inherited)
        arguments = {"path": gate.path, "proof": str(proof)}
        params = {"name": "report_to_nobody", "arguments": arguments, "_meta": {"progressToken": 1}}
        await server.write(jsonl(initialize(HANDSHAKE[-1]), request("tools/call", params)))
        output_text = b""
        async with asyncio.timeout(PATIENCE):
            while b"begun" not in output_text:
                output_text += await asyncio.get_running_loop().run_in_executor(None, os.read, output, 65536)
        os.close(output)
        await gate.open()
        server.end_input()
        assert await server.exit_code() == 0
        assert proof.exists()
        assert b"Traceback" not in server.errors


async def test_client_that_does_not_read_blocks_no_other_request() -> None:
    """The answers wait in the server, and all of them arrive."""
    async with talking() as server:
        big = "x" * 50_000
        sending = asyncio.create_task(
            server.write(jsonl(*(call("echo", number, text=big) for number in range(40))))
        )
        answers = [await server.receive() for _ in range(40)]
        await sending
        assert {answer["id"] for answer in answers} == set(range(40))
        assert {len(text_of(answer)) for answer in answers} == {50_000}
