"""The canonical form of a trace, in which two recordings can be compared.

Values that `normaliser.py` declares are replaced by names or omitted; every other byte stays. The canonical
form of a canonical trace is the trace itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Trace

from .generated_value import GeneratedNames
from .lane import (
    LEFT,
    SHARED,
    MessagesByFrame,
    canonical_channels,
    client_side,
    cut_connections,
    is_sentinel,
    lane_of,
    messages_by_frame,
    natural,
)
from .normaliser import (
    ADDRESS,
    CLIENT_VALUES,
    LEFT_EARLY,
    MOMENTS,
    OMITTED,
    ORDER,
    PIECES,
    SENTINELS,
    VALUES,
    Volatile,
)
from .rewrite import Rewriter, authority_of

TIMES = ("begin", "waited", "pid")
"""Fields of marks that differ in each recording: the number of another frame, seconds, a process id."""


class Canonical(Struct, frozen=True):
    trace: Trace
    origin: tuple[int, ...]
    """The original number of each frame."""
    applied: Counter[str]
    """How often each normaliser applied."""


def canonical(trace: Trace, extra: Iterable[Volatile] = ()) -> Canonical:
    applied: Counter[str] = Counter()
    messages = messages_by_frame(trace)
    sentinels = _sentinels(trace, messages)
    compared = [frame for frame in trace.frames if not _is_omitted(frame, sentinels, applied)]
    compared += _cut_marks(trace, applied)
    ordered = list(_arranged(compared, messages, canonical_channels(trace, messages), client_side(trace)))
    rewritten = _rewritten(trace, ordered, messages, extra, applied)
    frames = [_without_times(frame, n) for n, frame in enumerate(rewritten)]
    origin = tuple(frame.n for frame in ordered)
    applied[PIECES.name] += len(compared) - len(ordered)
    applied[ORDER.name] += list(origin) != sorted(origin)
    applied[MOMENTS.name] += any(frame.t for frame in compared)
    return Canonical(_without_address(trace, frames), origin, +applied)


def _rewritten(
    trace: Trace,
    frames: list[Frame],
    messages: MessagesByFrame,
    extra: Iterable[Volatile],
    applied: Counter[str],
) -> Iterator[Frame]:
    if client_side(trace) is Sender.DRIVER:
        rewriter = Rewriter(trace, (*VALUES, *extra), applied)
        yield from (rewriter.rewritten(frame, messages[frame.n]) for frame in frames)
    else:
        rewriter = Rewriter(trace, (*VALUES, *CLIENT_VALUES, *extra), applied)
        names = GeneratedNames(trace, frames, applied)
        yield from (names.rewritten(rewriter.rewritten(frame, messages[frame.n])) for frame in frames)


def _without_times(frame: Frame, number: int) -> Frame:
    info = frame.info
    if frame.kind is Kind.MARK:
        info = {key: value for key, value in info.items() if key not in TIMES}
    return msgspec.structs.replace(frame, n=number, t=0.0, info=info)


def _without_address(trace: Trace, frames: list[Frame]) -> Trace:
    subject, authority = trace.header.subject, authority_of(trace)
    subject = subject.replace(authority, f"({ADDRESS.name})") if authority else subject
    return Trace(msgspec.structs.replace(trace.header, started="", subject=subject), frames)


def _is_omitted(frame: Frame, sentinels: frozenset[int], applied: Counter[str]) -> bool:
    names = [rule.name for rule in OMITTED if rule.covers(frame)]
    if frame.n in sentinels:
        names.append(SENTINELS.name)
    applied.update(names[:1])
    return bool(names)


def _sentinels(trace: Trace, messages: MessagesByFrame) -> frozenset[int]:
    """The frames of sentinels and their answers; on HTTP, the whole request and response."""
    sentinels = [frame for frame in trace.frames if any(map(is_sentinel, messages[frame.n]))]
    posts = {frame.channel for frame in sentinels if frame.kind is Kind.REQUEST}
    numbers = {frame.n for frame in sentinels}
    return frozenset(frame.n for frame in trace.frames if frame.n in numbers or frame.channel in posts)


def _cut_marks(trace: Trace, applied: Counter[str]) -> Iterator[Frame]:
    for number, connection in enumerate(cut_connections(trace), len(trace.frames)):
        applied[LEFT_EARLY.name] += 1
        info = {"label": LEFT_EARLY.name}
        yield Frame(number, 0.0, Sender.DRIVER, f"{connection}/{LEFT}", Kind.MARK, info=info)


def _arranged(
    frames: Iterable[Frame], messages: MessagesByFrame, names: dict[str, str], client: Sender
) -> Iterator[Frame]:
    """Order the frames by channel; on a shared channel, put each answer after its request."""
    channels: dict[str, list[Frame]] = defaultdict(list)
    for frame in frames:
        channel = names.get(frame.channel, frame.channel)
        channels[channel].append(msgspec.structs.replace(frame, channel=channel))
    for channel in sorted(channels, key=natural):
        on_channel = channels[channel]
        shared = any(frame.kind in SHARED for frame in on_channel)
        yield from _answers_after_requests(on_channel, messages, client) if shared else on_channel


def _answers_after_requests(
    frames: list[Frame], messages: MessagesByFrame, client: Sender
) -> Iterator[Frame]:
    lanes: dict[str, list[Frame]] = defaultdict(list)
    for frame in _whole_lines(frame for frame in frames if frame.sender is not client):
        lanes[lane_of(frame, messages[frame.n], client)].append(frame)
    for frame in frames:
        if frame.sender is client:
            yield frame
            for message in messages[frame.n]:
                if message.shape is Shape.REQUEST:
                    yield from lanes.pop(f"answer to {message.id!r}", ())
    for lane in sorted(lanes):
        yield from lanes[lane]


def _whole_lines(frames: Iterable[Frame]) -> Iterator[Frame]:
    """Join lines that were written in pieces."""
    partial: Frame | None = None
    for frame in frames:
        if partial is not None and frame.kind is Kind.LINE:
            frame = msgspec.structs.replace(frame, raw=partial.raw + frame.raw)
        elif partial is not None:
            yield partial
        partial = frame if frame.kind is Kind.LINE and not frame.raw.endswith(b"\n") else None
        if partial is None:
            yield frame
    if partial is not None:
        yield partial
