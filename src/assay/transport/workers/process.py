"""A worker as its parent sees it: the process, its channel, and when it was last heard of."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from .channel import Channel, ChannelClosed
from .command import variable
from .plan import Plan

STARTING: Final = 600.0
"""Seconds that a worker may take to import and start the user's server."""
MARGIN: Final = 5.0
"""Seconds beyond the drain of the server until a worker that should end is killed."""


class WorkerProcess:
    """Started when created."""

    ready_at: float | None = None
    """When it began to serve."""
    kill_at: float | None = None
    """When it is killed, because it was asked to end."""
    lost = False
    """Its channel has closed: it has ended, or is ending."""
    killed = False

    def __init__(self, plan: Plan, setting: dict[str, Any], sockets: list[socket.socket]) -> None:
        ours, theirs = socket.socketpair()
        number = theirs.fileno()
        with theirs:
            self._process = subprocess.Popen(
                plan.command,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **variable(number)},
                pass_fds=[number, *(each.fileno() for each in sockets)],
                # Ctrl-C reaches the parent alone, which passes it on: otherwise workers would get it twice.
                process_group=0,
            )
        self.pid = self._process.pid
        self.channel = Channel(ours)
        self.channel.send({"setting": {**plan.setting, **setting}})
        self.started_at = self.heard_at = monotonic()
        self.listening: list[int] = []
        """The sockets that it was last asked to accept connections on."""
        self.drain = 0.0
        self.numbers: dict[str, Any] = {}
        """Its latest metrics."""

    @property
    def is_serving(self) -> bool:
        return self.ready_at is not None and not (self.kill_at or self.lost or self.killed)

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for a signal."""
        return self._process.poll()

    def receive(self) -> list[dict[str, Any]]:
        try:
            messages = self.channel.receive()
        except ChannelClosed:
            self.lost = True
            return []
        if messages:
            self.heard_at = monotonic()
        return messages

    def listen_on(self, sockets: list[int]) -> None:
        if sockets != self.listening:
            self.listening = sockets
            self.channel.send({"listen": sockets})

    def served(self) -> float | None:
        """Seconds since it began to serve; none if it has not."""
        return None if self.ready_at is None else monotonic() - self.ready_at

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Ask it to end. Before it serves it has no handler for signals: Ctrl-C would be reported as an
        error."""
        self._send(number if self.ready_at is not None else signal.SIGTERM)
        self.expect_end()

    def expect_end(self) -> None:
        """It has some seconds to end by itself."""
        if self.kill_at is None:
            self.kill_at = monotonic() + self.drain + MARGIN

    def kill(self) -> None:
        self.killed = True
        self._send(signal.SIGKILL)

    def _send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    def limit(self, stuck: float) -> tuple[float, str]:
        """When it must be killed, and why."""
        if self.kill_at is not None:
            return self.kill_at, "has not ended in time"
        if self.ready_at is None:
            return self.started_at + STARTING, f"has not started within {STARTING:g} s"
        return self.heard_at + stuck, f"has been stuck for {stuck:g} s"
