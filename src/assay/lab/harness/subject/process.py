"""A subject's process: in a group of its own, standard error kept, stopped gently and then for certain."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from assay.lab.harness.links.broken_off import Unreachable

GRACE: Final = 2.0
"""Seconds that a process has to end after its input closed, and again after SIGTERM."""
TAIL: Final = 20
"""Lines of standard error that a report may quote."""
HEAD: Final = 3
"""How many of them are the first: some commands say what is wrong, and then at length how they are used."""
PIECE: Final = 256 * 1024
LONGEST: Final = 8 * 1024
"""Bytes of one line of standard error that are kept."""


class Process:
    def __init__(self, inner: asyncio.subprocess.Process, on_error: Callable[[bytes], None]) -> None:
        self._inner = inner
        self._on_error = on_error
        self.tail: deque[str] = deque()
        self._emptying: asyncio.Task[None] | None = None
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
            Unreachable: there is no such command, or it cannot be run.
        """
        pipe = asyncio.subprocess.PIPE
        try:
            # In a session of its own: Ctrl-C is for us, and whatever it starts can be stopped with it.
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
            raise Unreachable(f"cannot run {command[0]}: {error.strerror or error}") from None
        return cls(inner, on_error)

    async def read(self) -> bytes:
        assert self._inner.stdout is not None
        return await self._inner.stdout.read(PIECE)

    async def write(self, data: bytes) -> None:
        """
        Raises:
            ConnectionError: nobody reads any more.
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
        """Read and forget its standard output from now on: a full pipe would stop whoever writes to it."""
        if self._emptying is None:
            self._emptying = asyncio.create_task(self._empty())

    @property
    def status(self) -> int | None:
        return self._inner.returncode

    @property
    def process_id(self) -> int:
        return self._inner.pid

    def kill(self) -> None:
        """End it at once: one that hangs would only use up the time of whoever asks it to."""
        self._signal(signal.SIGKILL)

    async def stop(self, *, listens: bool = False) -> int:
        """Close its input, then ask, then insist; returns its exit status, negative for a signal.

        One that `listens` elsewhere need not read its input: it is asked at once.
        """
        self.end_input()
        if listens:
            self._signal(signal.SIGTERM)
        # One that is busy writing to us could not end, nor could the event loop let go of its pipe.
        self.ignore_output()
        assert self._emptying is not None
        try:
            return await self._stop((signal.SIGKILL,) if listens else (signal.SIGTERM, signal.SIGKILL))
        finally:
            await self._emptying

    async def _empty(self) -> None:
        while await self.read():
            pass

    async def _stop(self, steps: Sequence[signal.Signals]) -> int:
        for insist in steps:
            try:
                async with asyncio.timeout(GRACE):
                    return await self._ended()
            except TimeoutError:
                self._signal(insist)
        return await self._ended()

    async def _ended(self) -> int:
        status = await self._inner.wait()
        # Children that outlive it would keep the pipes, and with them this process, busy for ever.
        self._signal(signal.SIGKILL)
        await self._draining
        return status

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._inner.pid, number)

    async def _drain(self) -> None:
        assert self._inner.stderr is not None
        held = b""
        while data := await self._inner.stderr.read(PIECE):
            *lines, held = (held + data).split(b"\n")
            for line in lines:
                self._keep(line)
            held = held[-LONGEST:]
        if held:
            self._keep(held)

    def _keep(self, line: bytes) -> None:
        line = line[:LONGEST]
        if len(self.tail) == TAIL:
            del self.tail[HEAD]
        self.tail.append(line.decode(errors="replace"))
        self._on_error(line)


def how_it_ended(status: int) -> str:
    """An exit status in words."""
    if status >= 0:
        return f"the subject's process exited with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = str(-status)
    return f"the subject's process was ended by signal {name}"
