"""A server as a child process: one message per line on its stdin and stdout.

The child gets a process group for itself: Ctrl-C in the terminal does not end it before its client has closed
it, and what it started ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable
from subprocess import Popen
from typing import Final

from assay.model.client_error import ConnectionFailed, HttpFailure, InvalidAnswer, ServerDied, quoted_lines
from assay.model.client_limits import ClientLimits
from assay.model.definition import ToolDefinition
from assay.model.jsonrpc import Notification
from assay.protocol.codec import encode
from assay.protocol.framing.lines import LineFramer, LineTooLong
from assay.revisions.revision import Revision

from .command import Command, end, start, start_problem
from .message import Outgoing, deliver
from .port import Receiver
from .process import AsyncioProcess, PosixProcess, ServerProcess

LINE_CHARACTERS: Final = 500
"""Of a line that an error shows."""


class ChildLink(asyncio.SubprocessProtocol):
    is_stateless = False
    is_process = True

    def __init__(
        self, command: Command, limits: ClientLimits, take: Callable[[], Popen[bytes] | None] = lambda: None
    ) -> None:
        """
        Args:
            take: Gives the process of this command, if it was started already.
        """
        self._command = command
        self._take_started = take
        self._limits = limits
        self._codec = limits.codec
        self._framer = LineFramer(limits.message_bytes)
        self._errors = _LastLines(limits.stderr_lines)
        self._stray: deque[str] = deque(maxlen=limits.stderr_lines)
        self._process: ServerProcess | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._exited = asyncio.Event()
        self._reported = asyncio.Event()
        """Set when the end was reported: nothing more can arrive."""
        self._open_pipes = {1, 2}
        self._is_closing = False
        self._exit_code: int | None = None

    @property
    def endpoint(self) -> str:
        return f"{self._command.cwd or ''}\0" + "\0".join(self._command.words)

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        try:
            self._process = await (self._start_windows() if sys.platform == "win32" else self._start())
        except (OSError, ValueError) as error:
            raise ConnectionFailed(start_problem(self._command, error)) from error
        self._stdin = self._process.stdin

    async def _start(self) -> ServerProcess:
        started = self._take_started() or start(self._command)
        process = PosixProcess(started, self)
        try:
            await process.attach()
        except BaseException:
            process.close()
            end(started)
            raise
        return process

    async def _start_windows(self) -> ServerProcess:
        command = self._command
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: self, *command.words, env=command.environment(), cwd=command.cwd
        )
        return AsyncioProcess(transport)

    async def send(self, message: Outgoing, revision: Revision) -> None:
        if self._exited.is_set() or self._stdin is None or self._stdin.is_closing():
            raise await self._refusal()
        self._stdin.write(encode(message) + b"\n")
        if not self._writable.is_set():
            await self._writable.wait()

    async def _refusal(self) -> ServerDied:
        """Why nothing can be sent. Exit code and last lines may arrive after the end of the input; a process
        that only closed its input is of no use, either."""
        await self._within_timeout(self._reported)
        if not self._is_closing:
            self._report_lost()
        error = self._death()
        error.unsent = True
        return error

    def cancel(self, notice: Notification, revision: Revision) -> None:
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(encode(notice) + b"\n")

    def fallback(self, failure: HttpFailure | None) -> None:
        return

    async def follow(self, revision: Revision, opened: Callable[[], None]) -> None:
        return

    def learn(self, tools: Iterable[ToolDefinition]) -> None:
        return

    def context(self) -> str:
        return quoted_lines(self._errors.lines, self._stray)

    # Callbacks of the event loop.

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._errors.feed(data)
            return
        for line in self._framer.feed(data):
            self._take(line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0:
            self._writable.set()
            return
        self._open_pipes.discard(fd)
        if fd == 1:
            for line in self._framer.end():
                self._take(line)
        else:
            self._errors.feed(b"\n")
        self._report_end()

    def process_exited(self) -> None:
        # While the link closes, the code says nothing about the server.
        if not self._is_closing and self._process is not None:
            self._exit_code = self._process.returncode
        self._exited.set()
        self._writable.set()
        if self._open_pipes and not self._is_closing:
            # A process that it started may hold the pipes open: do not wait for long for the last lines.
            asyncio.get_running_loop().call_later(self._limits.close_timeout, self._give_up_pipes)
        self._report_end()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _take(self, line: bytes | LineTooLong) -> None:
        if isinstance(line, LineTooLong):
            # Which call it answers is unknown, so none of them can wait for its answer any more.
            if self._process is not None:
                self._process.pause()  # the rest of the line would only take time
            self._receiver.lost(self._too_long)
        elif deliver(line, self._codec, self._receiver) is not None:
            self._stray.append(line[:LINE_CHARACTERS].decode(errors="replace"))

    def _too_long(self) -> InvalidAnswer:
        return InvalidAnswer(
            f"the server sent a line of more than {self._limits.message_bytes} bytes;"
            f" if that is expected, raise limits.message_bytes{self.context()}"
        )

    def _give_up_pipes(self) -> None:
        self._open_pipes.clear()
        self._report_end()

    def _report_end(self) -> None:
        """Report the end once nothing more can arrive: the last lines of stderr say why it ended."""
        if 1 not in self._open_pipes and (self._exited.is_set() and 2 not in self._open_pipes):
            self._report_lost()
        elif 1 not in self._open_pipes and not self._exited.is_set() and not self._is_closing:
            # It closed its output: usually it is about to end, and then its exit code is worth waiting for.
            loop = asyncio.get_running_loop()
            loop.call_later(self._limits.close_timeout, self._report_closed_output)

    def _report_closed_output(self) -> None:
        if not self._is_closing:
            self._report_lost()

    def _report_lost(self) -> None:
        self._reported.set()
        self._receiver.lost(self._death)

    def _death(self) -> ServerDied:
        return ServerDied(self._command.text, self._exit_code, self._errors.lines, self._stray)

    # Closing: end of input, SIGTERM, SIGKILL (basic/lifecycle#shutdown), each in bounded time.

    async def close(self) -> None:
        process, self._process = self._process, None
        self._is_closing = True
        if process is None:
            return
        kill = getattr(signal, "SIGKILL", signal.SIGTERM)
        try:
            process.stdin.abort() if not self._writable.is_set() else process.stdin.close()
            for number in (None, signal.SIGTERM, kill):
                if number is not None:
                    process.signal(number)
                if await self._has_exited():
                    break
        finally:
            process.signal(kill)
            process.close()
        await self._has_exited()
        process.forget()

    async def _has_exited(self) -> bool:
        await self._within_timeout(self._exited)
        return self._exited.is_set()

    async def _within_timeout(self, event: asyncio.Event) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.close_timeout):
                await event.wait()


class _LastLines:
    """The last lines of a stream, each cut to a bounded length."""

    def __init__(self, limit: int) -> None:
        self.lines: deque[str] = deque(maxlen=limit)
        self._framer = LineFramer(LINE_CHARACTERS)

    def feed(self, data: bytes) -> None:
        for line in self._framer.feed(data):
            text = "(a long line)" if isinstance(line, LineTooLong) else line.decode(errors="replace")
            self.lines.append(text)
