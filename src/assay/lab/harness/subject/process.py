"""A subject's process: runs in its own process group, with standard error captured, and is always stopped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from assay.lab.harness.links.broken_off import NotRunnable

GRACE: Final = 2.0
"""Seconds to wait for the exit after the input was closed, and again after SIGTERM."""
TAIL: Final = 20
"""Lines of standard error that a report may quote."""
HEAD: Final = 3
"""How many of these are the first lines: some commands print the error and then a long usage text."""
PIECE: Final = 256 * 1024
LONGEST: Final = 8 * 1024
"""Bytes of a line of standard error that are kept."""


class Process:
    def __init__(self, inner: asyncio.subprocess.Process, on_error: Callable[[bytes], None]) -> None:
        self._inner = inner
        self._on_error = on_error
        self.tail: deque[str] = deque()
        self._discarding: asyncio.Task[None] | None = None
        self._draining = asyncio.create_task(self._drain())

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        on_error: Callable[[bytes], None] = lambda line: None,
        environment: Mapping[str, str] | None = None,
    ) -> Process:
        """
        Raises:
            NotRunnable: the command does not exist or cannot be run.
        """
        pipe = asyncio.subprocess.PIPE
        try:
            # In a new session, Ctrl-C does not reach it, and its children can be stopped with it.
            inner = await asyncio.create_subprocess_exec(
                *command,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,
                limit=PIECE,
                env={**os.environ, **(environment or {})},
            )
        except OSError as error:
            raise NotRunnable(f"the command cannot be run: {error.strerror or error}") from None
        return cls(inner, on_error)

    async def read(self) -> bytes:
        assert self._inner.stdout is not None
        return await self._inner.stdout.read(PIECE)

    async def write(self, data: bytes) -> None:
        """
        Raises:
            ConnectionError: the process no longer reads.
        """
        assert self._inner.stdin is not None
        self._inner.stdin.write(data)
        await self._inner.stdin.drain()

    def end_input(self) -> None:
        assert self._inner.stdin is not None
        self._inner.stdin.close()

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    async def wait(self) -> int:
        status = await self._inner.wait()
        await self._draining
        return status

    def ignore_output(self) -> None:
        """Discard standard output from now on: a full pipe would block the process."""
        if self._discarding is None:
            self._discarding = asyncio.create_task(self._discard_output())

    @property
    def status(self) -> int | None:
        return self._inner.returncode

    @property
    def process_id(self) -> int:
        return self._inner.pid

    def kill(self) -> None:
        """Kill a process that hangs, without waiting for it."""
        self._signal(signal.SIGKILL)

    async def stop(self, *, listens: bool = False) -> int:
        """Close the input, then send SIGTERM, then SIGKILL; returns the exit status, negative for a signal.

        A process that `listens` on a socket need not read its input, so it gets SIGTERM at once.
        """
        self.end_input()
        if listens:
            self._signal(signal.SIGTERM)
        # A process that is blocked on a full pipe could not exit.
        self.ignore_output()
        assert self._discarding is not None
        try:
            return await self._stop((signal.SIGKILL,) if listens else (signal.SIGTERM, signal.SIGKILL))
        finally:
            await self._discarding

    async def _discard_output(self) -> None:
        while await self.read():
            pass

    async def _stop(self, signals: Sequence[signal.Signals]) -> int:
        for number in signals:
            try:
                async with asyncio.timeout(GRACE):
                    return await self._exit_status()
            except TimeoutError:
                self._signal(number)
        return await self._exit_status()

    async def _exit_status(self) -> int:
        status = await self._inner.wait()
        # Children that outlive the process would keep its pipes open for ever.
        self._signal(signal.SIGKILL)
        await self._draining
        return status

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._inner.pid, number)

    async def _drain(self) -> None:
        assert self._inner.stderr is not None
        rest = b""
        while data := await self._inner.stderr.read(PIECE):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._keep(line)
            rest = rest[-LONGEST:]
        if rest:
            self._keep(rest)

    def _keep(self, line: bytes) -> None:
        line = line[:LONGEST]
        if len(self.tail) == TAIL:
            del self.tail[HEAD]
        self.tail.append(line.decode(errors="replace"))
        self._on_error(line)


def describe_exit(status: int) -> str:
    """An exit status in words."""
    if status >= 0:
        return f"the subject's process exited with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = str(-status)
    return f"the subject's process was ended by signal {name}"
