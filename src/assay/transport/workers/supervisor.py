"""The parent of several workers: starts them, replaces those that end or are stuck, and passes signals on.

It serves nothing itself and imports nothing of the user's, so that no request and no fault of a handler can
end it. Its decisions:

- The first worker starts alone. If it cannot, its own message is the only one, and its exit code is ours.
- Each worker accepts on a separate socket. While a worker is missing, another accepts on its socket as
  well, so connections wait for no restart.
- On SIGHUP workers are replaced one after the other, each only once its successor serves. If the new program
  does not start, the old workers stay.
"""

from __future__ import annotations

import selectors
import signal
import socket
from collections import deque
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from .back_off import BackOff
from .plan import Plan
from .process import WorkerProcess
from .signal_queue import SignalQueue
from .terminal import has_terminal
from .totals import Totals

STOPPING: Final = (signal.SIGTERM, signal.SIGINT)
SIGNALS: Final = (*STOPPING, signal.SIGHUP, signal.SIGCHLD)
NOT_STARTED: Final = 4
INTERRUPTED: Final = 130
TICK: Final = 1.0
"""Seconds after which the parent looks at its workers even if nothing happens."""


class Slot:
    """The place of one worker."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.worker: WorkerProcess | None = None
        self.successor: WorkerProcess | None = None
        """It takes the worker's place once it serves."""
        self.back_off = BackOff()
        self.start_at: float | None = None


class Supervisor:
    def __init__(self, plan: Plan, sockets: list[socket.socket]) -> None:
        self._plan = plan
        self._sockets = sockets
        self._slots = [Slot(index) for index in range(plan.workers)]
        self._ending: list[WorkerProcess] = []
        """Workers that were replaced and serve their last requests."""
        self._to_replace: deque[Slot] = deque()
        self._selector = selectors.DefaultSelector()
        self._totals = Totals()
        self._started = False
        """The first worker has served."""
        self._stopping = False
        self._code = 0
        self._looked_at = monotonic()
        self._had_terminal = has_terminal()

    def run(self) -> int:
        """Supervise until a signal ends it; returns the exit code."""
        with SignalQueue(SIGNALS) as signals:
            self._selector.register(signals.reader, selectors.EVENT_READ)
            self._start(self._slots[0])
            while self._processes() or any(slot.start_at is not None for slot in self._slots):
                self._wait()
                for number in signals.take():
                    self._on_signal(number)
                self._read()
                self._end_overdue()
                self._reap()
                self._start_due()
                self._share_sockets()
        self._selector.close()
        return self._code

    def _processes(self) -> list[WorkerProcess]:
        """All that run; while the parent serves, there is one or one is due."""
        return [worker for slot in self._slots for worker in (slot.worker, slot.successor) if worker] + (
            self._ending
        )

    # Waiting

    def _wait(self) -> None:
        now = monotonic()
        due = [slot.start_at for slot in self._slots if slot.start_at is not None]
        due += [worker.limit(self._plan.stuck)[0] for worker in self._processes()]
        for worker in self._processes():
            if not worker.lost:
                unsent = selectors.EVENT_WRITE if worker.channel.has_unsent else 0
                self._selector.modify(worker.channel.socket, selectors.EVENT_READ | unsent, worker)
        self._selector.select(max(0.0, min(TICK, min(due, default=now) - now)))

    def _read(self) -> None:
        for worker in self._processes():
            worker.channel.flush()
            for message in worker.receive():
                self._on_message(worker, message)
            if worker.lost and worker.kill_at is None:
                self._forget(worker)
                worker.expect_end()  # it may still run, and nothing more would be heard of it

    def _forget(self, worker: WorkerProcess) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(worker.channel.socket)

    def _on_message(self, worker: WorkerProcess, message: dict[str, Any]) -> None:
        if "ready" in message:
            worker.ready_at, worker.drain = monotonic(), float(message["ready"])
            self._on_ready(worker)
        if "numbers" in message:
            worker.numbers = message["numbers"]
        if "ask" in message:
            totals = self._totals.sum_of(each.numbers for each in self._processes())
            serving = sum(slot.worker is not None and slot.worker.is_serving for slot in self._slots)
            worker.channel.send({"totals": {**totals, "workers": serving, "ask": message["ask"]}})

    def _on_ready(self, worker: WorkerProcess) -> None:
        for slot in self._slots:
            if slot.successor is worker:
                if slot.worker is not None:
                    slot.worker.stop()
                    self._ending.append(slot.worker)
                slot.worker, slot.successor = worker, None
                self._replace_next()
        if not self._started:
            self._started = True
            for slot in self._slots[1:]:
                self._start(slot)

    # Starting and replacing

    def _start(self, slot: Slot) -> None:
        slot.start_at = None
        slot.worker = self._new(slot)

    def _new(self, slot: Slot) -> WorkerProcess:
        own = [slot.index % len(self._sockets)]
        setting = {
            "sockets": [each.fileno() for each in self._sockets],
            "listen": own,
            "first": not self._started,
        }
        worker = WorkerProcess(self._plan, setting, self._sockets)
        worker.listening = own
        self._selector.register(worker.channel.socket, selectors.EVENT_READ, worker)
        return worker

    def _start_due(self) -> None:
        for slot in self._slots:
            if slot.start_at is not None and slot.start_at <= monotonic():
                self._start(slot)

    def _replace_all(self) -> None:
        """Begin to replace all workers, also those that were replaced a moment ago: the program may have
        changed again."""
        if self._stopping or not self._started:
            return
        self._plan.say("SIGHUP: starting new workers")
        self._to_replace = deque(self._slots)
        if not any(slot.successor for slot in self._slots):
            self._replace_next()

    def _replace_next(self) -> None:
        if self._to_replace and not self._stopping:
            slot = self._to_replace.popleft()
            slot.successor = self._new(slot)

    def _share_sockets(self) -> None:
        """Let serving workers accept for those that are missing."""
        if self._stopping:
            return
        serving = [slot.worker for slot in self._slots if slot.worker and slot.worker.is_serving]
        wanted: dict[int, list[int]] = {id(worker): [] for worker in serving}
        missing = set(range(len(self._sockets)))
        for slot in self._slots:
            if slot.worker and slot.worker.is_serving:
                own = slot.index % len(self._sockets)
                wanted[id(slot.worker)].append(own)
                missing.discard(own)
        for worker in serving:  # who has adopted a socket keeps it
            kept = [index for index in worker.listening if index in missing]
            wanted[id(worker)] += kept
            missing -= set(kept)
        for index in sorted(missing) if serving else ():
            min(wanted.values(), key=len).append(index)
        for worker in serving:
            worker.listen_on(wanted[id(worker)])

    # Ending

    def _on_signal(self, number: int) -> None:
        if number == signal.SIGHUP:
            if self._had_terminal and not has_terminal():
                self._stop(signal.SIGTERM)  # the terminal was closed
            else:
                self._replace_all()
        elif number in STOPPING:
            self._stop(number)

    def _stop(self, number: int) -> None:
        if number == signal.SIGINT:
            self._code = INTERRUPTED
        if not self._stopping:
            self._stopping = True
            self._to_replace.clear()
            # Nothing would accept the connections that the kernel goes on to queue.
            for each in self._sockets:
                each.close()
        for slot in self._slots:
            slot.start_at = None
        for worker in self._processes():
            worker.stop(number)

    def _end_overdue(self) -> None:
        now = monotonic()
        # If this process was suspended, it has read no heartbeats: give workers another chance.
        was_suspended = now - self._looked_at > TICK + self._plan.stuck / 2
        self._looked_at = now
        for worker in self._processes():
            limit, reason = worker.limit(self._plan.stuck)
            if was_suspended:
                worker.heard_at = now
            elif limit <= now and not worker.killed:
                self._plan.say(f"worker {worker.pid} {reason}: it is killed")
                worker.kill()

    def _reap(self) -> None:
        for worker in self._processes():
            if worker.exit_code is not None:
                self._read_last(worker)
                self._forget(worker)
                worker.channel.close()
                self._totals.retire(worker.numbers)
                self._on_end(worker)

    def _read_last(self, worker: WorkerProcess) -> None:
        for message in worker.receive():
            if "numbers" in message:
                worker.numbers = message["numbers"]

    def _on_end(self, worker: WorkerProcess) -> None:
        if worker in self._ending:
            self._ending.remove(worker)
            return
        for slot in self._slots:
            if slot.successor is worker:
                slot.successor = None
                self._on_failed_successor(worker)
            elif slot.worker is worker:
                slot.worker = None
                self._on_lost(slot, worker)

    def _on_lost(self, slot: Slot, worker: WorkerProcess) -> None:
        if self._stopping:
            return
        if not self._started:
            self._code = self._first_failure(worker)
            return
        self._totals.restarts += 1
        delay = slot.back_off.delay(worker.served())
        slot.start_at = monotonic() + delay
        later = f" in {delay:g} s" if delay else ""
        self._plan.say(f"worker {worker.pid} {ending(worker.exit_code)}: another starts{later}")

    def _first_failure(self, worker: WorkerProcess) -> int:
        code = worker.exit_code or 0
        if code > 0:
            return code  # it has said why
        self._plan.say(f"error: the first worker {ending(code)} before it served")
        return NOT_STARTED

    def _on_failed_successor(self, worker: WorkerProcess) -> None:
        if not self._stopping:
            self._to_replace.clear()
            problem = f"a new worker {ending(worker.exit_code)} before it served"
            self._plan.say(f"SIGHUP: {problem}: the present workers stay")


def ending(code: int | None) -> str:
    if code is not None and code < 0:
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
        return f"was ended by signal {-code}"
    return f"has ended with exit code {code}"
