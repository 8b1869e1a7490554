"""A process of the subject that only one scenario uses, so that the scenario may end it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from assay.lab.harness.links.stdio import STILL_RUNNING, TERMINATED
from assay.lab.harness.subject.subject import UrlSubject
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.recorder import Recorder

from .peer import Peer

PROCESS_CHANNEL: Final = "separate/process"


class SeparateServer:
    def __init__(self, subject: UrlSubject, recorder: Recorder, begin: Callable[[], Awaitable[Peer]]) -> None:
        self._subject = subject
        self._recorder = recorder
        self.open = begin
        """Open a conversation with this process. It may end before the scenario does: no sentinel is sent."""

    async def terminate(self, patience: float) -> int | None:
        """Send SIGTERM and wait for the exit status; None if the process keeps running."""
        self._recorder.mark(PROCESS_CHANNEL, TERMINATED)
        status = await self._subject.terminate(patience)
        if status is None:
            self._recorder.mark(PROCESS_CHANNEL, STILL_RUNNING, waited=patience)
        else:
            self._recorder.record(Sender.SUBJECT, PROCESS_CHANNEL, Kind.EXIT, status=status)
        return status

    async def stop(self) -> None:
        await self._subject.stop()
