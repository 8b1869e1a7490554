"""Subjects that are started by a command and reached at a URL."""

import asyncio
import sys

import pytest

from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.subject.process import HEAD, TAIL, Process
from assay.lab.harness.subject.subject import UrlSubject, served
from assay.lab.harness.transport import Transport

# Listens, and writes more to standard output than a pipe holds; then connects to report success.
TALKER = """
import socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
for _ in range(64):
    sys.stdout.write("x" * 65536)
sys.stdout.flush()
socket.create_connection(("127.0.0.1", int(sys.argv[2])))
sys.stdin.read()
"""

# Listens, ignores SIGTERM, and ends with its input.
DEAF = """
import signal, socket, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
sys.stdin.read()
"""


async def listening(connected: asyncio.Event | None = None) -> tuple[asyncio.Server, int]:
    """A server and its port; the event is set on a connection."""

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        if connected is not None:
            connected.set()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


async def test_running_server_is_not_judged_in_place_of_the_command() -> None:
    server, port = await listening()
    async with server:
        subject = UrlSubject(f"http://127.0.0.1:{port}/mcp", command=[sys.executable, "-c", ""])
        with pytest.raises(Unreachable, match="another server already listens"):
            await subject.start()
        await subject.stop()


async def test_server_that_writes_to_standard_output_is_not_blocked() -> None:
    server, port = await listening()
    server.close()
    await server.wait_closed()
    done = asyncio.Event()
    answering, answering_port = await listening(done)
    command = [sys.executable, "-c", TALKER, str(port), str(answering_port)]
    subject = UrlSubject(f"http://127.0.0.1:{port}/mcp", command=command)
    async with answering, asyncio.timeout(20):
        await subject.start()
        try:
            await done.wait()
        finally:
            await subject.stop()


async def test_first_and_last_lines_of_standard_error_are_kept() -> None:
    lines = "import sys\nfor n in range(100): print(n, file=sys.stderr)"
    process = await Process.start([sys.executable, "-c", lines])
    await process.wait()
    await process.stop()
    first = [str(n) for n in range(HEAD)]
    assert list(process.tail) == [*first, *(str(n) for n in range(100 - (TAIL - HEAD), 100))]


async def test_server_that_listens_is_terminated_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: it got the grace period of a process that exits at the end of its input."""
    monkeypatch.setattr("assay.lab.harness.subject.process.GRACE", 600.0)
    subject = served("reference", Transport.HTTP)
    await subject.start()
    await subject.stop()


async def test_separate_process_of_a_served_server_ends_without_the_server_itself() -> None:
    subject = served("reference", Transport.HTTP)
    await subject.start()
    try:
        other = subject.separate()
        assert other is not None
        await other.start()
        try:
            assert other.name != subject.name
            assert await other.terminate(20) == 0
        finally:
            await other.stop()
        await UrlSubject(subject.name).start()
    finally:
        await subject.stop()


def test_server_at_a_given_url_has_no_separate_process() -> None:
    assert UrlSubject("http://127.0.0.1:9/mcp").separate() is None


async def test_process_that_keeps_running_after_sigterm_has_no_status() -> None:
    server, port = await listening()
    server.close()
    await server.wait_closed()
    subject = UrlSubject(f"http://127.0.0.1:{port}/mcp", command=[sys.executable, "-c", DEAF, str(port)])
    try:
        await subject.start()
        assert await subject.terminate(0.05) is None
    finally:
        await subject.stop()
