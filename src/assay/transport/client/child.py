"""A server as a child process: one message per line on its stdin and stdout.

The child gets a process group for itself: Ctrl-C in the terminal does not end it before its client has closed
it, and what it started ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, cast

from msgspec import Struct

from assay.model.client_error import ConnectionFailed, HttpFailure, InvalidAnswer, ServerDied, quoted_lines
from assay.model.client_limits import ClientLimits
from assay.model.definition import ToolDefinition
from assay.model.jsonrpc import Notification
from assay.protocol.codec import encode
from assay.protocol.framing.lines import LineFramer, LineTooLong
from assay.revisions.revision import Revision

from .port import Outgoing, Receiver, deliver

READ_BYTES: Final = 64 * 1024
LINE_CHARACTERS: Final = 500
"""Of a line that an error shows."""
INHERITED: Final = frozenset(
    {
        *("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
        *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMFILES"),
        *("PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"),
    }
)
"""Variables that a server needs to start. Others may be secrets that do not concern it."""
START_HINTS: Final[dict[int | None, str]] = {
    errno.EACCES: "; make the file executable, or start it with its interpreter",
    errno.ENOEXEC: "; is it built for this system? A script starts with #! and its interpreter",
    errno.E2BIG: "; the arguments or env= are too long",
}


class Command(Struct, frozen=True):
    """What to start, and how."""

    words: tuple[str, ...]
    env: Mapping[str, str] | None = None
    cwd: str | None = None
    inherit_env: bool = False

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if self.inherit_env or name.upper() in INHERITED or name.startswith("LC_")
        }
        return {**inherited, **(self.env or {})}


class ChildLink(asyncio.SubprocessProtocol):
    is_stateless = False
    is_process = True

    def __init__(self, command: Command, limits: ClientLimits) -> None:
        self._command = command
        self._limits = limits
        self._codec = limits.codec
        self._framer = LineFramer(limits.message_bytes)
        self._errors = _LastLines(limits.stderr_lines)
        self._stray: deque[str] = deque(maxlen=limits.stderr_lines)
        self._transport: asyncio.SubprocessTransport | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._output: _Output | None = None
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
        if sys.platform == "win32":
            await self._start(stdout=asyncio.subprocess.PIPE)
            return
        source, sink = os.pipe()
        self._output = _Output(source, self)
        try:
            await self._start(stdout=sink, start_new_session=True)
        except BaseException:
            self._output.close()
            raise
        finally:
            os.close(sink)
        self._output.resume()

    async def _start(self, **options: Any) -> None:
        loop, command = asyncio.get_running_loop(), self._command
        try:
            transport, _ = await loop.subprocess_exec(
                lambda: self, *command.words, env=command.environment(), cwd=command.cwd, **options
            )
        except (OSError, ValueError) as error:
            raise ConnectionFailed(_start_problem(command, error)) from error
        self._transport = transport
        self._stdin = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))

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

    def fallback(self, failure: HttpFailure) -> None:
        return

    async def follow(self, revision: Revision, opened: Callable[[], None]) -> None:
        return

    def learn(self, tools: Iterable[ToolDefinition]) -> None:
        return

    def context(self) -> str:
        return quoted_lines(self._errors.lines, self._stray)

    # Callbacks of the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._process = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._errors.feed(data)
        else:
            self.feed(data)

    def feed(self, data: bytes) -> None:
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
        if not self._is_closing:  # otherwise the code says nothing about the server
            self._exit_code = self._process.get_returncode()
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
            if self._output is not None:
                self._output.pause()  # the rest of the line would only take time
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
        transport, self._transport = self._transport, None
        self._is_closing = True
        if transport is None:
            return
        try:
            if self._stdin is not None:
                self._stdin.abort() if not self._writable.is_set() else self._stdin.close()
            for end in (None, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
                if end is not None:
                    self._signal(transport, end)
                if await self._has_exited():
                    break
        finally:
            self._signal(transport, getattr(signal, "SIGKILL", signal.SIGTERM))
            transport.close()
            if self._output is not None:
                self._output.close()
        await self._has_exited()

    async def _has_exited(self) -> bool:
        await self._within_timeout(self._exited)
        return self._exited.is_set()

    async def _within_timeout(self, event: asyncio.Event) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.close_timeout):
                await event.wait()

    def _signal(self, transport: asyncio.SubprocessTransport, number: signal.Signals) -> None:
        """Signal the process and what it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                transport.send_signal(number)
            else:
                os.killpg(transport.get_pid(), number)


class _Output:
    """The standard output of the process. asyncio's own reader would allocate four times as much for each
    read, which takes longer than the read itself, and pass on the data in a further round of the loop."""

    def __init__(self, descriptor: int, link: ChildLink) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._link = link
        self._loop = asyncio.get_running_loop()
        self._is_open = True

    def resume(self) -> None:
        self._loop.add_reader(self._descriptor, self._read)

    def pause(self) -> None:
        if self._is_open:
            self._loop.remove_reader(self._descriptor)

    def close(self) -> None:
        self.pause()
        if self._is_open:
            self._is_open = False
            os.close(self._descriptor)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, READ_BYTES)
        except BlockingIOError:
            return
        if data:
            self._link.feed(data)
        else:
            self.close()
            self._link.pipe_connection_lost(1, None)


class _LastLines:
    """The last lines of a stream, each cut to a bounded length."""

    def __init__(self, limit: int) -> None:
        self.lines: deque[str] = deque(maxlen=limit)
        self._framer = LineFramer(LINE_CHARACTERS)

    def feed(self, data: bytes) -> None:
        for line in self._framer.feed(data):
            text = "(a long line)" if isinstance(line, LineTooLong) else line.decode(errors="replace")
            self.lines.append(text)


def _start_problem(command: Command, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError) and command.cwd is not None and not os.path.isdir(command.cwd):
        return f"cannot start {command.text}: the directory does not exist: {command.cwd}"
    if isinstance(error, FileNotFoundError) and len(command.words) == 1 and " " in command.text:
        words = ", ".join(map(repr, command.text.split()))
        return f"cannot start {command.text!r}, which was not found; if it is several words: Stdio({words})"
    if isinstance(error, FileNotFoundError):
        return f"cannot start {command.text}: {command.words[0]} was not found; install it, or check PATH"
    problem = getattr(error, "strerror", None) or str(error)
    return f"cannot start {command.text}: {problem}{START_HINTS.get(getattr(error, 'errno', None), '')}"
