"""Counts what happens to the operations of a run. Its size does not depend on how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from .answer import sent_at
from .error_kind import MOST_KINDS, OTHER
from .histogram import HIGHEST, Histogram
from .operation import Operation

MOST_WINDOWS: Final = 300
SECOND: Final = 10**9


class Window:
    """A part of the measured time."""

    __slots__ = ("errors", "latencies")

    def __init__(self) -> None:
        self.latencies = Histogram()
        self.errors = 0


class Tally:
    """Operations whose intended time is from `begin` to before `end` count."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin = begin
        self.end = end
        self.width = max(SECOND, -(-(end - begin) // MOST_WINDOWS))
        self.kinds: dict[str, Histogram] = {}
        self.errors: Counter[str] = Counter()
        self.answered = 0
        """Answers and errors that arrived in the measured time."""
        self.operations = 0
        self.windows: dict[int, Window] = {}
        self.lag = Histogram()
        """How late the generator itself was, at a fixed rate."""
        self.stamped = Histogram()
        """From a server's time stamp inside a message of a stream to its arrival."""
        self.first_message = Histogram()
        """From the request to the first message of its stream."""
        self.gaps = Histogram()
        """Between two messages of a stream."""

    def stop(self, at: int) -> None:
        """Measure no longer than until now."""
        self.end = max(min(self.end, at), self.begin)

    def record(self, operation: Operation, intended: int, at: int, error: str | None) -> None:
        if self.begin <= at < self.end:
            self.answered += 1
        if not self.begin <= intended < self.end:
            return
        self.operations += 1
        window = self._window(at)
        if error is not None:
            self.count_error(error)
            window.errors += 1
            return
        histogram = self.kinds.get(operation.kind)
        if histogram is None:
            histogram = self.kinds[operation.kind] = Histogram()
        histogram.record(at - intended)
        window.latencies.record(at - intended)

    def _window(self, at: int) -> Window:
        number = (min(at, self.end - 1) - self.begin) // self.width
        window = self.windows.get(number)
        if window is None:
            window = self.windows[number] = Window()
        return window

    def count_error(self, kind: str) -> None:
        known = kind in self.errors or len(self.errors) < MOST_KINDS
        self.errors[kind if known else OTHER] += 1

    def record_message(self, sent: int, previous: int, at: int, message: bytes) -> None:
        if not self.begin <= sent < self.end:
            return
        stamp = sent_at(message)
        if stamp is not None and 0 <= at - stamp < HIGHEST:
            self.stamped.record(at - stamp)
        if previous:
            self.gaps.record(at - previous)
        else:
            self.first_message.record(at - sent)

    @property
    def messages(self) -> int:
        return self.first_message.count + self.gaps.count

    @property
    def is_stamped(self) -> bool:
        """Whether every message has a time that can be true. A server could leave out, or place in the
        future, those of its late ones."""
        return 0 < self.stamped.count == self.messages

    def latencies(self, kinds: Iterable[str] | None = None) -> Histogram:
        """All latencies, or those of some kinds of operations."""
        total = Histogram()
        for kind, histogram in self.kinds.items():
            if kinds is None or kind in kinds:
                total.merge(histogram)
        return total

    @property
    def failed(self) -> int:
        return sum(self.errors.values())
