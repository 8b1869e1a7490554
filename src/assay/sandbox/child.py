"""Run a command that takes the place of this process: its streams, its signals, its exit code."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType


def run_child(command: Sequence[str], pass_fds: Sequence[int] = ()) -> int:
    """The exit code; 128 and the number of a signal, if one ended it, as shells report it."""
    process = subprocess.Popen(command, pass_fds=pass_fds, start_new_session=True)

    def forward(number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            process.send_signal(number)

    before = {
        number: signal.signal(number, forward) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    }
    try:
        status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return status if status >= 0 else 128 - status
