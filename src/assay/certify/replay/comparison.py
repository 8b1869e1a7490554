"""Comparison of two recordings of one conversation, fixture by fixture.

A fixture is a request of the client with all that the server sent for it; on HTTP, any request with its
response. What the server sends unasked on a shared channel counts for the request before it. Both recordings
are compared in the canonical form of golden runs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.harness.golden.canonical import Canonical, canonical
from assay.lab.harness.golden.frame_difference import FrameDifference, frame_differences
from assay.lab.harness.golden.lane import (
    CLOSING,
    LEFT,
    SHARED,
    MessagesByFrame,
    is_sentinel,
    messages_by_frame,
)
from assay.lab.harness.golden.normaliser import Volatile
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Trace

from .profile_value import PROFILE_VALUES

MOST_ALIGNED: Final = 2000
"""Unasked messages that are aligned; more are compared by their position."""
UNSOLICITED: Final = "unasked"
CLOSED: Final = "closing"
Groups = dict[str, list[int]]
"""Numbers of canonical frames, by fixture."""


class Divergence(Struct, frozen=True):
    fixture: str
    """The request, as `tools/call add (id 7)`."""
    difference: FrameDifference


class Comparison(Struct, frozen=True):
    pairs: int
    matched: int
    divergences: list[Divergence]
    applied: dict[str, int]
    """How often each normaliser applied."""


def compare(before: Trace, after: Trace, extra: Sequence[Volatile] = ()) -> Comparison:
    """Compare the recording with a later one."""
    try:
        values = (*PROFILE_VALUES, *extra)
        return _compare(canonical(before, values), canonical(after, values))
    except RecursionError:
        problem = "a message is nested too deeply to be compared"
        difference = FrameDifference("", Sender.SUBJECT, None, None, problem, "", "")
        return Comparison(1, 0, [Divergence("the whole conversation", difference)], {})


def _compare(before: Canonical, after: Canonical) -> Comparison:
    applied = Counter(before.applied + after.applied)
    olds, news = _Side(before), _Side(after)
    divergences: dict[str, list[FrameDifference]] = defaultdict(list)
    """By fixture."""
    for key, difference in _differences(olds, news, applied):
        fixture = olds.fixture(key, difference.frame_before) or news.fixture(key, difference.frame_after)
        divergences[fixture].append(difference)
    titles = {**news.titles, **olds.titles}
    pairs = len({*olds.titles, *divergences})
    listed = [Divergence(titles.get(key, key), each) for key, many in divergences.items() for each in many]
    return Comparison(pairs, pairs - len(divergences), listed, dict(applied))


def _differences(olds: _Side, news: _Side, applied: Counter[str]) -> Iterator[tuple[str, FrameDifference]]:
    for key in dict.fromkeys((*olds.groups, *news.groups)):
        if key.endswith(UNSOLICITED):
            yield from _aligned(key, olds, news)
        else:
            for difference in frame_differences(olds.part(key), news.part(key), applied):
                if difference.sender == Sender.SUBJECT:
                    yield key, difference


class _Side:
    """One recording in canonical form, divided into fixtures."""

    def __init__(self, side: Canonical) -> None:
        self.side = side
        self.frames = side.trace.frames
        self._messages = messages_by_frame(side.trace)
        self.titles: dict[str, str] = {}
        """The fixtures by key, in order."""
        self._sent: list[tuple[int, str, str]] = []
        """Original number, connection and key of each request."""
        self.groups: Groups = defaultdict(list)
        self._begin()
        owners = _owners(self.frames, self._messages)
        for number, frame in enumerate(self.frames):
            if frame.kind is not Kind.MARK:
                self.groups[_key(frame, self._messages, owners)].append(number)

    def _begin(self) -> None:
        for number, frame in enumerate(self.frames):
            if frame.sender is not Sender.DRIVER:
                continue
            if frame.kind is Kind.REQUEST and frame.stream != "ws":
                self._add(number, frame, frame.channel, _title(frame, self._messages))
            for message in self._messages[frame.n] if frame.kind in SHARED else ():
                if message.shape is Shape.REQUEST and not is_sentinel(message):
                    self._add(number, frame, f"{frame.channel} {message.id!r}", _title(frame, self._messages))

    def _add(self, number: int, frame: Frame, key: str, title: str) -> None:
        self.titles.setdefault(key, title)
        self._sent.append((self.side.origin[number], frame.connection, key))

    def part(self, key: str) -> Canonical:
        """The frames of one group, with the marks that excuse missing ones."""
        return self._canonical([*self.groups.get(key, ()), *self._marks()])

    def single(self, number: int | None, *, marked: bool) -> Canonical:
        """One frame or none, with or without these marks."""
        return self._canonical([*([] if number is None else [number]), *(self._marks() if marked else ())])

    def _canonical(self, numbers: Sequence[int]) -> Canonical:
        frames = [msgspec.structs.replace(self.frames[number], n=n) for n, number in enumerate(numbers)]
        origin = tuple(self.side.origin[number] for number in numbers)
        return Canonical(Trace(self.side.trace.header, frames), origin, Counter())

    def _marks(self) -> Iterator[int]:
        marked = (number for number, frame in enumerate(self.frames) if frame.kind is Kind.MARK)
        return (number for number in marked if self.frames[number].channel.endswith(f"/{LEFT}"))

    def fixture(self, key: str, frame: int | None) -> str:
        """The fixture that a difference counts for: for unasked messages, the last request before them."""
        if key in self.titles:
            return key
        if frame is None:
            return ""
        connection = key.partition("/")[0]
        earlier = [
            (number, each) for number, name, each in self._sent if name == connection and number <= frame
        ]
        return max(earlier)[1] if earlier else key


def _owners(frames: Iterable[Frame], messages: MessagesByFrame) -> dict[str, str]:
    """The key of the fixture by progress token, on shared channels."""
    owners: dict[str, str] = {}
    for frame in frames:
        for message in messages[frame.n] if frame.kind in SHARED and frame.sender is Sender.DRIVER else ():
            token = message.meta.get("progressToken")
            if token is not None:
                owners[f"{frame.channel} {token!r}"] = f"{frame.channel} {message.id!r}"
    return owners


def _key(frame: Frame, messages: MessagesByFrame, owners: dict[str, str]) -> str:
    if frame.kind in SHARED:
        for message in messages[frame.n]:
            if message.is_response == message.by_subject and message.id is not None:
                return f"{frame.channel} {message.id!r}"
            if message.by_subject and message.method == "notifications/progress":
                token = f"{frame.channel} {message.params.get('progressToken')!r}"
                return owners.get(token, f"{frame.channel} {UNSOLICITED}")
        return f"{frame.channel} {UNSOLICITED}" if frame.sender is Sender.SUBJECT else f"{frame.channel} sent"
    is_open = frame.stream in ("lines", "ws")
    return f"{frame.channel} {CLOSED}" if is_open and frame.kind in CLOSING else frame.channel


def _title(frame: Frame, messages: MessagesByFrame) -> str:
    for message in messages[frame.n]:
        name = message.params.get("name") or message.params.get("uri") or ""
        number = "" if message.id is None else f" (id {message.id})"
        return f"{message.method or 'answer'} {name}".strip() + number
    return f"{frame.raw.partition(b' ')[0].decode('latin-1')} {frame.channel}"


def _aligned(key: str, olds: _Side, news: _Side) -> Iterator[tuple[str, FrameDifference]]:
    """Differences of messages that belong to no request: all of them, although one may be missing."""
    old, new = olds.groups.get(key, []), news.groups.get(key, [])
    for before, after in _pairs([_same(olds, n) for n in old], [_same(news, n) for n in new]):
        # Only messages at the end may be missing because the driver left early.
        is_last = max(before or 0, after or 0) >= min(len(old), len(new))
        left = olds.single(None if before is None else old[before], marked=is_last)
        right = news.single(None if after is None else new[after], marked=is_last)
        for difference in frame_differences(left, right):
            yield key, difference


def _same(side: _Side, number: int) -> tuple[Kind, bytes]:
    return side.frames[number].kind, side.frames[number].raw


def _pairs(
    old: Sequence[tuple[Kind, bytes]], new: Sequence[tuple[Kind, bytes]]
) -> Iterator[tuple[int | None, int | None]]:
    """The places that differ, in both lists."""
    if max(len(old), len(new)) > MOST_ALIGNED:
        same = min(len(old), len(new))
        changes = [(n, n + 1, n, n + 1) for n in range(same) if old[n] != new[n]]
        changes.append((same, len(old), same, len(new)))
    else:
        codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        changes = [(a, b, c, d) for kind, a, b, c, d in codes if kind != "equal"]
    for a, b, c, d in changes:
        for place in range(max(b - a, d - c)):
            yield a + place if a + place < b else None, c + place if c + place < d else None
