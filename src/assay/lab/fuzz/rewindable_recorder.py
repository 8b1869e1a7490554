"""A recorder for one case after another, each preceded by the opening of the session."""

from __future__ import annotations

from assay.lab.harness.trace.recorder import Recorder


class RewindableRecorder(Recorder):
    _opening = 0

    @property
    def count(self) -> int:
        """The number of frames."""
        return len(self._frames)

    def keep(self) -> None:
        """Keep the frames so far in front of every case."""
        self._opening = len(self._frames)

    def rewind(self) -> None:
        """Drop the frames of the last case."""
        del self._frames[self._opening :]
        self._bytes = sum(len(frame.raw) for frame in self._frames)
