"""Stands between a host and a server on standard input and output, as the command that the host starts.

Each stream has a thread that reads, records and writes: a slow reader slows its writer down, as a pipe does,
and nothing is buffered in between.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO, Any, Final

from assay.lab.error import SubjectNotStarted
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.transport import Transport

from .capture import Capture
from .conversation import Conversation
from .line_stream import LINES, LineStream

PIECE: Final = 64 * 1024
PASSED_ON: Final = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH")
DRAIN: Final = 1.0
"""Seconds for output that a process left in its pipes: its children may hold these open for ever."""
TICK: Final = 1.0
_SET_DEATH_SIGNAL: Final = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


class StdioRelay:
    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self._lock = threading.Lock()
        self._over = threading.Event()

    def run(self, process: subprocess.Popen[bytes]) -> int:
        """Pass everything on until the server exits; returns its status, negative for a signal."""
        conversation = self.capture.begin(Transport.STDIO)
        with signals_passed_to(process):
            threads = self._threads(process, conversation)
            while process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(TICK)
            for thread in threads[1:]:
                thread.join(DRAIN)
        status: int = process.returncode
        self._over.set()
        with self._lock:
            if conversation is not None:
                conversation.record(Sender.SUBJECT, LINES, Kind.EXIT, status=status)
            self.capture.close()
        return status

    def _threads(
        self, process: subprocess.Popen[bytes], conversation: Conversation | None
    ) -> list[threading.Thread]:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        largest = self.capture.options.frame
        streams = [
            (sys.stdin.fileno(), process.stdin, Sender.DRIVER, Kind.LINE),
            (process.stdout.fileno(), 1, Sender.SUBJECT, Kind.LINE),
            (process.stderr.fileno(), 2, Sender.SUBJECT, Kind.ERRORS),
        ]
        threads = []
        for source, target, sender, kind in streams:
            lines = None if conversation is None else LineStream(conversation, sender, largest, kind)
            thread = threading.Thread(target=self._pass_on, args=(source, target, lines), daemon=True)
            thread.start()
            threads.append(thread)
        return threads

    def _pass_on(self, source: int, target: IO[bytes] | int, lines: LineStream | None) -> None:
        """Pass a stream on until it ends, or its reader is gone."""
        number = target if isinstance(target, int) else target.fileno()
        with contextlib.suppress(OSError):
            while data := os.read(source, PIECE):
                self._record(lines, data)
                write_all(number, data)
        self._record(lines, b"")
        if not isinstance(target, int):
            with contextlib.suppress(OSError):  # it has exited
                target.close()

    def _record(self, lines: LineStream | None, data: bytes) -> None:
        with self._lock:
            if lines is not None and not self._over.is_set():
                lines.feed(data) if data else lines.end()


def start_server(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start the server. It gets signals only from here, and does not outlive a tap that is killed.

    Raises:
        SubjectNotStarted: the command cannot be run.
    """
    pipe = subprocess.PIPE
    try:  # what runs between fork and exec is safe: no other thread has started yet
        return subprocess.Popen(
            list(command),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            bufsize=0,
            process_group=0,
            preexec_fn=_death_signal(),  # noqa: PLW1509
        )
    except OSError as error:
        problem = f"{command[0]}: the command cannot be run: {error.strerror or error}"
        raise SubjectNotStarted(problem, "give the server's own command after `--`") from error


def _death_signal() -> Callable[[], Any] | None:
    """Ends the server with the tap, as it would end with the host's own signal; only Linux can."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return lambda: prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


@contextlib.contextmanager
def signals_passed_to(process: subprocess.Popen[bytes]) -> Any:
    def pass_on(number: int, frame: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)

    numbers = [getattr(signal, name) for name in PASSED_ON if hasattr(signal, name)]
    before = {number: signal.signal(number, pass_on) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def write_all(number: int, data: bytes) -> None:
    """
    Raises:
        OSError: the reader is gone.
    """
    view = memoryview(data)
    while view:
        view = view[os.write(number, view) :]


def exit_like(status: int) -> int:
    """The exit code for a status; after a signal, this process ends by the same one."""
    if status >= 0:
        return status
    sys.stdout.flush()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the core of the server is the one of interest
    number = -status
    with contextlib.suppress(OSError, ValueError):  # SIGKILL has no handler
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number
