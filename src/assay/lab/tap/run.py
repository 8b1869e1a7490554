"""A tap as a whole: the recording, its judgement, and what is known so far."""

from __future__ import annotations

import asyncio
import os
import shlex
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from assay.lab.error import InvalidOptions
from assay.lab.harness.run.recording import now

from .capture import Capture
from .follower import Status
from .http_relay import HttpRelay
from .judge_process import JudgeProcess
from .options import TapOptions
from .redaction import LiveRedaction, secrets_of, words_without_secrets
from .stdio_relay import StdioRelay, start_server

Watch = Callable[[Status], None]
PATIENCE: Final = 30.0
"""Seconds for the judgement of the rest, when a tap on HTTP ends; later it continues in the background."""


def discard(status: Status) -> None:
    """Watches nothing."""


class Tap:
    """Live traffic, recorded in `directory` and judged beside it."""

    def __init__(self, capture: Capture, watch: Watch) -> None:
        self.capture = capture
        self.last = Status()
        self._watch = watch
        self._judge: JudgeProcess | None = None
        if capture.options.judge:
            self._judge = JudgeProcess(capture.directory, now(), self._take)

    @property
    def directory(self) -> Path:
        return self.capture.directory

    @property
    def judge_pid(self) -> int | None:
        return None if self._judge is None else self._judge.pid

    @property
    def lag(self) -> int:
        """Frames that are recorded and not judged."""
        return max(self.capture.frames - self.last.judged, 0)

    def _take(self, status: Status) -> None:
        self.last = status
        self._watch(status)

    def finish(self, patience: float) -> bool:
        """Judge the rest; returns whether that was done in time."""
        self.capture.close()
        return self._judge is None or self._judge.stop(patience)


@asynccontextmanager
async def tap_http(
    url: str,
    options: TapOptions,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ca: Path | None = None,
    watch: Watch = discard,
) -> AsyncIterator[tuple[Tap, HttpRelay]]:
    """Listen for clients of the server at a URL, and pass on what they say.

    Raises:
        InvalidOptions: the URL, the address or the options cannot be used.
        CannotStore: the traces cannot be stored.
    """
    context = ssl.create_default_context(cafile=ca) if ca is not None else None
    capture = Capture(options, url, listen=f"{host}:{port}")
    try:
        relay = HttpRelay(capture, url, context)
        await relay.start(host, port)
    except ValueError as error:
        raise InvalidOptions(str(error), "give the server's address: http(s):// or ws(s)://") from error
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        problem = f"cannot listen on {host}:{port}: {reason}"
        raise InvalidOptions(problem, "choose another address with --listen") from error
    tap = Tap(capture, watch)
    try:
        yield tap, relay
    finally:
        await relay.stop()
        await asyncio.to_thread(tap.finish, PATIENCE)


def tap_stdio(command: Sequence[str], options: TapOptions, began: Callable[[Tap], None], watch: Watch) -> int:
    """Run a server with the standard streams of this process; returns its status.

    Raises:
        InvalidOptions: the options cannot be used.
        CannotStore: the traces cannot be stored.
        SubjectNotStarted: the command cannot be run.
    """
    redaction = LiveRedaction((*options.secrets, *secrets_of(os.environ)), options.redact_headers)
    target = shlex.join(words_without_secrets(command, redaction))
    relay = StdioRelay(Capture(options, target, redaction))
    process = start_server(command)
    tap = Tap(relay.capture, watch)
    began(tap)
    status = relay.run(process)
    tap.finish(0.0)  # the host waits for this process, and not for the judgement
    return status
