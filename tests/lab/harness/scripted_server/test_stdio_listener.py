"""The scripted server on stdio, from the view of the process that a client starts."""

import asyncio
import json
import shlex
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assay.lab.harness.scripted_server import stdio_listener
from assay.lab.harness.scripted_server.answer import DONE, Answer, Raw
from assay.lab.harness.scripted_server.ordered_channel import DuplexChannel
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stdio_listener import KILLED, SIGNALLED, STARTED
from assay.lab.harness.trace import recorder
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.transport import Transport
from assay.revisions.registry import PER_REQUEST
from tests.lab.harness.scripted_server.raw_client import PATIENCE, RunningStage, message, open_stage


class ServerProcess:
    """The process that a client starts."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self.process, self.input = process, process.stdin
        self.output, self.errors = process.stdout, process.stderr

    async def ask(self, body: bytes) -> Any:
        self.input.write(body + b"\n")
        return json.loads(await self.line())

    async def line(self) -> bytes:
        async with asyncio.timeout(PATIENCE):
            return await self.output.readline()

    async def ended(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()


@asynccontextmanager
async def served(running: RunningStage) -> AsyncIterator[ServerProcess]:
    pipe = asyncio.subprocess.PIPE
    words = shlex.split(running.stage.command)
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield ServerProcess(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_messages_are_lines_both_ways_and_recorded() -> None:
    async with open_stage(Transport.STDIO) as running, served(running) as child:
        assert running.stage.url == running.stage.origin == ""
        assert await child.ask(message("ping", 1)) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        child.input.write(b"\nno json\n[" + message("ping", 2) + b"]\n")
        assert json.loads(await child.line())["id"] == 2
        frames = running.frames("1/lines")
        assert frames[0] == (Sender.DRIVER, Kind.MARK)
        assert frames.count((Sender.SUBJECT, Kind.LINE)) == 4
    assert running.labels("1/lines")[0] == STARTED


async def test_subscription_ends_with_its_connection_or_when_it_is_cancelled() -> None:
    async with open_stage(Transport.STDIO, PER_REQUEST[-1]) as running:
        server = running.stage.server
        async with served(running) as child, served(running) as other:
            await child.ask(message("subscriptions/listen", 1))
            await other.ask(message("subscriptions/listen", 1))
            cancelled = json.dumps({"method": "notifications/cancelled", "params": {"requestId": 1}})
            child.input.write(cancelled.encode() + b"\n")
            assert (await child.ask(message("tools/list", 2)))["id"] == 2
            assert len(server.listeners) == 1
            await server.announce("notifications/tools/list_changed")
            assert b"list_changed" in await other.line()
    assert server.listeners == []


async def test_server_ends_with_its_input_unless_the_scenario_holds_it() -> None:
    async with open_stage(Transport.STDIO) as running:
        async with served(running) as child:
            await child.ask(message("ping", 1))
            child.input.close()
            assert await child.ended() == 0
        running.stage.server.exit_on_end = False
        async with served(running) as child:
            await child.ask(message("ping", 1))
            child.input.close()
            child.process.send_signal(signal.SIGTERM)
            assert await child.ended() == 0
    assert (Sender.SUBJECT, Kind.END) in running.frames("1/lines")
    assert SIGNALLED in running.labels("2/lines")


async def test_server_that_ignores_signals_has_to_be_killed() -> None:
    async with open_stage(Transport.STDIO) as running, served(running) as child:
        running.stage.server.exit_on_end = running.stage.server.exit_on_signal = False
        await child.ask(message("ping", 1))
        child.process.terminate()
        assert (await child.ask(message("ping", 2)))["id"] == 2
        assert SIGNALLED in running.labels("1/lines")
        channel = await running.stage.server.notification_channel()
        child.process.kill()
        assert await child.ended() == -signal.SIGKILL
        async with asyncio.timeout(PATIENCE):
            await channel.disconnected.wait()
    assert running.labels("1/lines")[-1] == KILLED


async def test_unfinished_line_is_in_the_trace_and_gets_no_answer() -> None:
    async with open_stage(Transport.STDIO) as running, served(running) as child:
        await child.ask(message("ping", 1))
        child.input.write(message("ping", 2))
        child.input.close()
        assert await child.ended() == 0
        assert await child.line() == b""
    last = [frame for frame in running.recorder.trace(closed=True).frames if frame.kind is Kind.END]
    assert [frame.info["clean"] for frame in last] == [False]


async def test_endless_line_floods_the_recorder(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (recorder, stdio_listener):
        monkeypatch.setattr(module, "MAX_BYTES", 1000)
    async with open_stage(Transport.STDIO) as running, served(running) as child:
        child.input.write(b"x" * 2000)
        assert await child.ended() == 0
    assert running.recorder.flooded


async def test_scenario_writes_invalid_lines_writes_to_stderr_and_exits() -> None:
    async with open_stage(Transport.STDIO) as running, served(running) as child:
        server = running.stage.server

        @server.on("odd")
        async def odd(cycle: RequestCycle) -> Answer:
            channel = cycle.channel
            assert isinstance(channel, DuplexChannel) and channel.write_stderr is not None
            await channel.raw(b"rubbish\n")
            await channel.write_stderr(b"a complaint\n")
            return Raw(b'{"odd": true}')

        @server.on("die")
        async def die(cycle: RequestCycle) -> Answer:
            cycle.channel.cut()
            return DONE

        child.input.write(message("odd", 1) + b"\n")
        assert await child.line() == b"rubbish\n"
        assert json.loads(await child.line()) == {"odd": True}
        assert await child.errors.readline() == b"a complaint\n"
        child.input.write(message("die", 2) + b"\n")
        assert await child.ended() == 0


async def test_each_process_is_a_separate_connection() -> None:
    async with open_stage(Transport.STDIO) as running, served(running) as first, served(running) as second:
        await first.ask(message("ping", 1))
        await second.ask(message("ping", 1))
        assert {frame.channel for frame in running.recorder.trace(closed=True).frames} == {
            "1/lines",
            "2/lines",
        }


async def test_processes_end_with_the_stage() -> None:
    async with open_stage(Transport.STDIO) as running:
        running.stage.server.exit_on_end = running.stage.server.exit_on_signal = False
        async with served(running) as child:
            await child.ask(message("ping", 1))
            await running.stage.close()
            assert await child.ended() == 0
