"""A process that may open no more files: one line in the log, and clients are accepted later."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from pathlib import Path
from typing import Any

import pytest

from assay.transport.http1.accept_errors import INTERVAL, OUT_OF_FILES, AcceptErrors
from tests.driving.answer import PATIENCE
from tests.driving.process import script, stdio_process
from tests.transport.http1.memory_client import get

NO_MORE_FILES = OSError(errno.EMFILE, "Too many open files")
SERVER = """
import resource, sys
sys.modules["uvloop"] = None
from assay import Limits, Server
resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
Server("full").run("http", port=0, announce=lambda url: print(url, flush=True))
"""


async def test_report_names_limit_and_remedy_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "assay")
    loop = asyncio.get_running_loop()
    with AcceptErrors(loop, connections=500) as errors:
        for _ in range(3):
            loop.call_exception_handler({"message": OUT_OF_FILES, "exception": NO_MORE_FILES})
        (record,) = caplog.records
        assert record.exc_info is None
        for text in ("Too many open files", "ulimit -n", "limits.connections, which is 500"):
            assert text in record.getMessage()
        errors._next -= INTERVAL
        errors.report(NO_MORE_FILES)
    assert len(caplog.records) == 2


@pytest.mark.parametrize("own", [True, False], ids=["handler of the host", "default handler"])
async def test_other_errors_are_handled_as_before(own: bool, caplog: pytest.LogCaptureFixture) -> None:
    loop, contexts = asyncio.get_running_loop(), list[Any]()
    before = (lambda _, context: contexts.append(context["message"])) if own else None
    loop.set_exception_handler(before)
    with AcceptErrors(loop, connections=500):
        loop.call_exception_handler({"message": "something else"})
    assert loop.get_exception_handler() is before
    loop.set_exception_handler(None)
    assert contexts == (["something else"] if own else [])
    assert [record.name for record in caplog.records] == ([] if own else ["asyncio"])


async def test_server_without_free_descriptors_logs_one_line_and_recovers(tmp_path: Path) -> None:
    async with stdio_process(*script(tmp_path / "full.py", SERVER)) as server:
        port = int((await server.line()).split(b":")[2].split(b"/")[0])
        clients: list[Any] = []
        for _ in range(60):
            client = socket.socket()
            client.setblocking(False)
            clients.append(client)
            client.connect_ex(("127.0.0.1", port))
        async with asyncio.timeout(PATIENCE):
            while b"cannot accept connections" not in server.errors:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                clients.append(writer)
        for client in clients:
            client.close()
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(get())
            assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 404")
            writer.close()
        server.process.terminate()
        assert await server.exit_code() == 0
        assert server.errors.count(b"\n") == 1
