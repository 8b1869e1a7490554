"""stdio: one process per connection, one message per line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final, Protocol

from assay.lab.harness.subject.process import describe_exit
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import MAX_BYTES, Flooded, Recorder

from .broken_off import BrokenOff, Gone
from .http_text import Head
from .link import Inbox, Sent
from .split import Lines

TERMINATED: Final = "terminated"
"""Mark of a process that the driver asked to exit."""
STILL_RUNNING: Final = "still running"
"""Mark of a process that did not exit while the driver waited."""


class Wire(Protocol):
    """The pipes of a process, or a substitute for them."""

    @property
    def tail(self) -> Any: ...

    async def read(self) -> bytes: ...

    async def write(self, data: bytes) -> None: ...

    def end_input(self) -> None: ...

    def terminate(self) -> None:
        """Ask the process to exit, as SIGTERM does."""

    async def wait(self) -> int: ...

    async def stop(self) -> int: ...


Spawn = Callable[[Callable[[bytes], None]], Awaitable[Wire]]
"""Starts the subject; the callback receives each line of standard error."""


class StdioLink:
    is_local = True

    def __init__(self, spawn: Spawn, inbox: Inbox, recorder: Recorder, *, name: str) -> None:
        self._spawn = spawn
        self._inbox = inbox
        self.move(recorder, name)
        self._closing = False
        self.wire: Wire | None = None
        self._reading: asyncio.Task[None] | None = None
        self._lines = Lines()

    def move(self, recorder: Recorder, name: str) -> None:
        """Record to another recorder from now on."""
        self._recorder = recorder
        self._channel = f"{name}/lines"
        self._errors = f"{name}/errors"

    def use_token(self, token: str | None) -> None:
        """Nothing to do: a process takes its credentials from its environment."""

    async def open(self) -> None:
        self.wire = await self._spawn(self._on_error)
        self._reading = asyncio.create_task(self._read(self.wire))

    def _on_error(self, line: bytes) -> None:
        try:
            self._recorder.record(Sender.SUBJECT, self._errors, Kind.ERRORS, line)
        except Flooded as flood:
            self._inbox.fail(flood)

    def agreed(self, head: Head | None, version: str) -> None:
        """Nothing to do: the process is the session."""

    async def send(self, body: bytes, message: Any, headers: Mapping[str, str | None]) -> Sent:
        return await self.write(body + b"\n")

    async def write(self, data: bytes) -> Sent:
        """Write bytes without adding a newline.

        Raises:
            Gone: the process no longer reads.
        """
        assert self.wire is not None
        self._recorder.record(Sender.DRIVER, self._channel, Kind.LINE, data)
        try:
            await self.wire.write(data)
        except (ConnectionError, RuntimeError):
            status = await self.wire.wait()
            raise Gone(describe_exit(status), tuple(self.wire.tail)) from None
        sent = Sent(self._channel)
        sent.settle()
        return sent

    async def end_input(self, patience: float) -> int | None:
        """Close standard input and wait for the exit status; None if the process keeps running."""
        assert self.wire is not None
        self._closing = True
        self._recorder.record(Sender.DRIVER, self._channel, Kind.END, clean=True)
        self.wire.end_input()
        return await self._ending(patience)

    async def terminate(self, patience: float) -> int | None:
        """Ask the process to exit while its input is open; its status, or None if it keeps running."""
        assert self.wire is not None
        self._closing = True
        self._recorder.mark(self._channel, TERMINATED)
        self.wire.terminate()
        return await self._ending(patience)

    async def _ending(self, patience: float) -> int | None:
        assert self.wire is not None and self._reading is not None
        try:
            async with asyncio.timeout(patience):
                status = await self.wire.wait()
                await self._reading
        except TimeoutError:
            return None
        self._recorder.record(Sender.SUBJECT, self._channel, Kind.EXIT, status=status)
        return status

    async def _read(self, wire: Wire) -> None:
        try:
            await self._read_lines(wire)
        except BrokenOff as reason:
            self._inbox.fail(reason)
            return
        if not self._closing:
            status = await wire.wait()
            self._recorder.record(Sender.SUBJECT, self._channel, Kind.EXIT, status=status)
            self._inbox.fail(Gone(describe_exit(status), tuple(wire.tail)))

    async def _read_lines(self, wire: Wire) -> None:
        while data := await wire.read():
            for line in self._lines.feed(data):
                frame = self._recorder.record(Sender.SUBJECT, self._channel, Kind.LINE, line + b"\n")
                self._inbox.deliver(frame, line)
            if len(self._lines) > MAX_BYTES:
                raise Flooded
        self._record_rest()
        self._recorder.record(Sender.SUBJECT, self._channel, Kind.END, clean=True)

    def _record_rest(self) -> None:
        """Record output that is not a whole line: it may be why a request seems unanswered."""
        if self._lines:
            rest, self._lines = self._lines.rest, Lines()
            self._recorder.record(Sender.SUBJECT, self._channel, Kind.LINE, rest)

    async def close(self) -> None:
        """Stop the process. Its later output is not recorded: the scenario is over."""
        self._closing = True
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            with suppress(Flooded):
                self._record_rest()
        if self.wire is not None:
            await self.wire.stop()
