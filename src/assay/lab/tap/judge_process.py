"""The process that judges a tap beside it: `python -m assay.lab.tap.judge_process DIRECTORY STARTED`.

It has the lowest priority, reads the traces from disk, and writes a line of JSON for each change. Its
standard input is held open by the tap: its end, however the tap ended, means that the rest is to be judged.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from .follower import Follower, Status, encode_status

INTERVAL: Final = 0.5
LONGEST_LINE: Final = 4 * 1024 * 1024
RESTARTS: Final = 3


def main(directory: str, started: str) -> None:
    with contextlib.suppress(OSError):
        os.nice(19)
    for name in ("SIGINT", "SIGHUP", "SIGTERM"):  # the end of the input is what ends it
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    follower = Follower(Path(directory), started)
    last = Status()
    while not _has_ended():
        status = follower.step()
        if status != last:
            _say(status)
            last = status
    _say(follower.step(finish=True))


def _has_ended() -> bool:
    ready, _, _ = select.select([sys.stdin.fileno()], [], [], INTERVAL)
    return bool(ready) and not os.read(sys.stdin.fileno(), 4096)


def _say(status: Status) -> None:
    with contextlib.suppress(OSError):  # the tap was killed: the judgement is stored all the same
        sys.stdout.buffer.write(encode_status(status))
        sys.stdout.buffer.flush()


class JudgeProcess:
    """The process, and what it says. It is started again if it is killed."""

    def __init__(self, directory: Path, started: str, watch: Callable[[Status], None]) -> None:
        """`watch` is called in another thread."""
        self._command = [sys.executable, "-m", __name__, str(directory), started]
        self._watch = watch
        self._stopping = False
        self._process = self._started()
        self.restarts = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _started(self) -> subprocess.Popen[bytes]:
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        return subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=null, start_new_session=True)

    def _read(self) -> None:
        while True:
            assert self._process.stdout is not None
            is_done = False
            while line := self._process.stdout.readline(LONGEST_LINE):
                try:
                    status = msgspec.json.decode(line, type=Status)
                except msgspec.DecodeError:  # cut off when it was killed
                    continue
                is_done = status.done
                self._watch(status)
            self._process.wait()
            if is_done or self._stopping or self.restarts == RESTARTS:
                return
            self.restarts += 1
            self._process = self._started()

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self, patience: float) -> bool:
        """Let it judge the rest; returns whether it was done in time. It ends by itself otherwise."""
        self._stopping = True
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._thread.join(patience)
        return not self._thread.is_alive()


if __name__ == "__main__":
    main(*sys.argv[1:3])
