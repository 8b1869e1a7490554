"""Servers in this process as subjects of recordings: no process, no socket."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from assay.certify.replay.conversation import Converse, ask_everything
from assay.lab.harness.links.link import Inbox, Link
from assay.lab.harness.links.stdio import StdioLink, Wire
from assay.lab.harness.run.recording import Conditions, record
from assay.lab.harness.subject.discovery import discover
from assay.lab.harness.subject.facts import Facts, ToolCalls
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.revisions.revision import Revision
from assay.server.server import Server
from assay.transport.memory import MemoryConnection

CONDITIONS = Conditions(patience=5.0)


class MemoryWire:
    """The pipes of a process, without a process."""

    def __init__(self, server: Server) -> None:
        self._output: asyncio.Queue[bytes] = asyncio.Queue()
        self._connection = MemoryConnection(server, take=self._put)
        self._tasks: set[asyncio.Task[None]] = set()
        self.tail: deque[str] = deque()

    def _put(self, message: bytes) -> None:
        self._output.put_nowait(message + b"\n")

    async def read(self) -> bytes:
        return await self._output.get()

    async def write(self, data: bytes) -> None:
        for line in data.splitlines():
            task = asyncio.create_task(self._serve(line))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, line: bytes) -> None:
        answer = await self._connection.deliver(line)
        if answer is not None:
            self._put(answer)

    def end_input(self) -> None:
        self._output.put_nowait(b"")

    def terminate(self) -> None:
        self.end_input()

    async def wait(self) -> int:
        return 0

    async def stop(self) -> int:
        self.end_input()
        return 0


class MemorySubject:
    transport = Transport.STDIO
    name = "in memory"

    def __init__(self, make: Callable[[], Server]) -> None:
        self._make = make

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def _spawn(self, on_error: Callable[[bytes], None]) -> Wire:
        return MemoryWire(self._make())

    def separate(self) -> None:
        return None

    def link(
        self, inbox: Inbox, recorder: Recorder, revision: Revision, *, name: str, patience: float
    ) -> Link:
        return StdioLink(self._spawn, inbox, recorder, name=name)

    def stderr_tail(self) -> tuple[str, ...]:
        return ()


async def recorded(make: Callable[[], Server], revision: Revision, converse: Converse, facts: Facts) -> Trace:
    recording = await record("replay", MemorySubject(make), revision, converse, facts, CONDITIONS)
    assert recording.broken is None
    return recording.trace


async def facts_of(make: Callable[[], Server], revision: Revision, **arguments: Any) -> Facts:
    """What the server lists, with arguments for its tools; those with others are called with guesses."""
    subject = MemorySubject(make)
    recording = await record("discovery", subject, revision, discover, Facts(revision.date), CONDITIONS)
    facts = recording.value
    assert isinstance(facts, Facts)
    facts.calls |= {name: ToolCalls([each], works=True) for name, each in arguments.items()}
    return facts


async def first_recording(make: Callable[[], Server], revision: Revision, **arguments: Any) -> Trace:
    """The recording of everything that the server lists."""
    facts = await facts_of(make, revision, **arguments)
    return await recorded(make, revision, ask_everything, facts)
