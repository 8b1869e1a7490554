"""The host on stdio: what a client starts is a server like any other."""

import asyncio
import json
import shlex
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assay.lab.harness.scripted_server import stdio_listener as pipe_door
from assay.lab.harness.scripted_server.answer import DONE, Answer, Raw
from assay.lab.harness.scripted_server.ordered_channel import LineChannel
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stdio_listener import KILLED, SIGNALLED, STARTED
from assay.lab.harness.trace import recorder
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.transport import Transport
from assay.revisions.registry import PER_REQUEST
from tests.lab.harness.scripted_server.callers import PATIENCE, Hosted, hosted, message


class Server:
    """The process that a client has."""

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
async def served(one: Hosted) -> AsyncIterator[Server]:
    pipe = asyncio.subprocess.PIPE
    words = shlex.split(one.hosting.command)
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield Server(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_messages_are_lines_both_ways_and_recorded() -> None:
    async with hosted(Transport.STDIO) as one, served(one) as server:
        assert one.hosting.url == one.hosting.origin == ""
        assert await server.ask(message("ping", 1)) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        server.input.write(b"\nno json\n[" + message("ping", 2) + b"]\n")
        assert json.loads(await server.line())["id"] == 2
        frames = one.frames("1/lines")
        assert frames[0] == (Sender.DRIVER, Kind.MARK)
        assert frames.count((Sender.SUBJECT, Kind.LINE)) == 4
    assert one.labels("1/lines")[0] == STARTED


async def test_subscription_ends_with_its_connection_or_when_it_is_cancelled() -> None:
    async with hosted(Transport.STDIO, PER_REQUEST[-1]) as one:
        host = one.hosting.host
        async with served(one) as server, served(one) as other:
            await server.ask(message("subscriptions/listen", 1))
            await other.ask(message("subscriptions/listen", 1))
            cancelled = json.dumps({"method": "notifications/cancelled", "params": {"requestId": 1}})
            server.input.write(cancelled.encode() + b"\n")
            assert (await server.ask(message("tools/list", 2)))["id"] == 2
            assert len(host.listeners) == 1
            await host.announce("notifications/tools/list_changed")
            assert b"list_changed" in await other.line()
    assert host.listeners == []


async def test_server_ends_with_its_input_unless_the_scenario_holds_it() -> None:
    async with hosted(Transport.STDIO) as one:
        async with served(one) as server:
            await server.ask(message("ping", 1))
            server.input.close()
            assert await server.ended() == 0
        one.hosting.host.exit_on_end = False
        async with served(one) as server:
            await server.ask(message("ping", 1))
            server.input.close()
            server.process.send_signal(signal.SIGTERM)
            assert await server.ended() == 0
    assert (Sender.SUBJECT, Kind.END) in one.frames("1/lines")
    assert SIGNALLED in one.labels("2/lines")


async def test_server_that_heeds_nothing_has_to_be_killed() -> None:
    async with hosted(Transport.STDIO) as one, served(one) as server:
        one.hosting.host.exit_on_end = one.hosting.host.exit_on_signal = False
        await server.ask(message("ping", 1))
        server.process.terminate()
        assert (await server.ask(message("ping", 2)))["id"] == 2
        assert SIGNALLED in one.labels("1/lines")
        ear = await one.hosting.host.ear()
        server.process.kill()
        assert await server.ended() == -signal.SIGKILL
        async with asyncio.timeout(PATIENCE):
            await ear.left.wait()
    assert one.labels("1/lines")[-1] == KILLED


async def test_unfinished_line_is_in_the_trace_and_gets_no_answer() -> None:
    async with hosted(Transport.STDIO) as one, served(one) as server:
        await server.ask(message("ping", 1))
        server.input.write(message("ping", 2))
        server.input.close()
        assert await server.ended() == 0
        assert await server.line() == b""
    last = [frame for frame in one.recorder.trace(closed=True).frames if frame.kind is Kind.END]
    assert [frame.info["clean"] for frame in last] == [False]


async def test_line_without_end_floods_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (recorder, pipe_door):
        monkeypatch.setattr(module, "MAX_BYTES", 1000)
    async with hosted(Transport.STDIO) as one, served(one) as server:
        server.input.write(b"x" * 2000)
        assert await server.ended() == 0
    assert one.recorder.flooded


async def test_scenario_may_write_rubbish_complain_and_die() -> None:
    async with hosted(Transport.STDIO) as one, served(one) as server:
        host = one.hosting.host

        @host.on("odd")
        async def odd(cycle: RequestCycle) -> Answer:
            channel = cycle.channel
            assert isinstance(channel, LineChannel) and channel.complain is not None
            await channel.raw(b"rubbish\n")
            await channel.complain(b"a complaint\n")
            return Raw(b'{"odd": true}')

        @host.on("die")
        async def die(cycle: RequestCycle) -> Answer:
            cycle.channel.cut()
            return DONE

        server.input.write(message("odd", 1) + b"\n")
        assert await server.line() == b"rubbish\n"
        assert json.loads(await server.line()) == {"odd": True}
        assert await server.errors.readline() == b"a complaint\n"
        server.input.write(message("die", 2) + b"\n")
        assert await server.ended() == 0


async def test_each_process_is_a_connection_of_its_own() -> None:
    async with hosted(Transport.STDIO) as one, served(one) as first, served(one) as second:
        await first.ask(message("ping", 1))
        await second.ask(message("ping", 1))
        assert {frame.channel for frame in one.recorder.trace(closed=True).frames} == {"1/lines", "2/lines"}


async def test_processes_end_with_the_host() -> None:
    async with hosted(Transport.STDIO) as one:
        one.hosting.host.exit_on_end = one.hosting.host.exit_on_signal = False
        async with served(one) as server:
            await server.ask(message("ping", 1))
            await one.hosting.close()
            assert await server.ended() == 0
