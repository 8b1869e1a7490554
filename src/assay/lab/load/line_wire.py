"""stdio: a process of the server for each connection, a message on each line."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from typing import Final, cast

from assay.protocol.framing.lines import LineFramer, LineTooLong

from .error_kind import CONNECT, RESET, TOO_LARGE
from .message_wire import MessageWire
from .wire import MOST_BYTES, OpeningFailed, Receiver, WireSettings

GRACE: Final = 2.0
"""Seconds for the exit after the input was closed."""
TAIL: Final = 2048
"""Bytes of standard error that are kept."""
_OUT: Final = 1


class Child(asyncio.SubprocessProtocol):
    def __init__(self, wire: LineWire) -> None:
        self._wire = wire
        self.exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._wire.receive(self, fd, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _OUT:
            self._wire.ended(self)

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)


class LineWire(MessageWire):
    def __init__(
        self,
        settings: WireSettings,
        receiver: Receiver,
        command: Sequence[str],
        environment: Mapping[str, str],
    ) -> None:
        super().__init__(settings, receiver)
        self._command = tuple(command)
        self._environment = environment
        self._transport: asyncio.SubprocessTransport | None = None
        self._child: Child | None = None
        self._framer = LineFramer(MOST_BYTES)
        self._errors = b""

    @property
    def stderr(self) -> str:
        return self._errors.decode(errors="replace")

    async def _connect(self) -> None:
        await self._stop()
        loop = asyncio.get_running_loop()
        environment = {**os.environ, **self._environment}
        try:
            # In a new session, Ctrl-C does not reach it, and its children can be stopped with it.
            self._transport, self._child = await loop.subprocess_exec(
                lambda: Child(self), *self._command, env=environment, start_new_session=True
            )
        except OSError as error:
            raise OpeningFailed(CONNECT, f"the command cannot be run: {error.strerror or error}") from None
        self.process_id = self._transport.get_pid()
        self._framer = LineFramer(MOST_BYTES)
        pipe = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        self._write = lambda message: pipe.write(message + b"\n")

    def receive(self, child: Child, fd: int, data: bytes) -> None:
        if fd != _OUT:
            self._errors = (self._errors + data)[-TAIL:]
            return
        for line in self._framer.feed(data):
            if isinstance(line, LineTooLong):
                self.lost(TOO_LARGE)
            else:
                self.take(line)

    def ended(self, child: Child) -> None:
        if child is self._child:
            self.lost(RESET)

    def abort(self) -> None:
        super().abort()
        if self._transport is not None:
            self._signal(signal.SIGKILL)

    async def close(self) -> None:
        super().abort()
        await self._stop()

    async def _stop(self) -> None:
        transport, child, self._transport, self._child = self._transport, self._child, None, None
        if transport is None or child is None:
            return
        pipe = transport.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()
        try:
            await asyncio.wait({child.exited}, timeout=GRACE)
        finally:
            # Also when this is cancelled: no process is left behind, nor its children.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(transport.get_pid(), signal.SIGKILL)
            transport.close()
        await asyncio.wait({child.exited})

    def _signal(self, number: signal.Signals) -> None:
        assert self._transport is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), number)
