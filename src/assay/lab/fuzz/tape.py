"""A recording that is used again and again: the opening of a conversation, then one case."""

from __future__ import annotations

from assay.lab.harness.trace.recorder import Recorder


class Tape(Recorder):
    _opening = 0

    @property
    def count(self) -> int:
        """How many frames there are."""
        return len(self._frames)

    def keep(self) -> None:
        """What was recorded so far stays in front of every case."""
        self._opening = len(self._frames)

    def rewind(self) -> None:
        """Forget the last case."""
        del self._frames[self._opening :]
        self._bytes = sum(len(frame.raw) for frame in self._frames)
