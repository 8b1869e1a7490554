"""A trace in the form in which two recordings can be compared: what `normaliser.py` declares is named or left
out, the rest is as it was, byte for byte. Making the canonical form canonical changes nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Trace

from .generated_value import Disguise
from .lane import (
    LEFT,
    SHARED,
    Said,
    asker_of,
    is_sentinel,
    lane_of,
    left_early,
    natural,
    renamed_channels,
    said_in,
)
from .normaliser import (
    ADDRESS,
    CLIENT_VALUES,
    LEFT_EARLY,
    LEFT_OUT,
    MOMENTS,
    ORDER,
    PIECES,
    SENTINELS,
    VALUES,
    Volatile,
)
from .rewrite import Rewriter, authority_of

TIMES = ("begin", "waited", "pid")
"""What marks say of moments: the number of another frame, seconds, a process."""


class Canonical(Struct, frozen=True):
    trace: Trace
    origin: tuple[int, ...]
    """The number that each frame had."""
    touched: Counter[str]
    """How often each normaliser had something to do."""


def canonical(trace: Trace, extra: Iterable[Volatile] = ()) -> Canonical:
    touched: Counter[str] = Counter()
    said = said_in(trace)
    scaffolding = _sentinels(trace, said)
    kept = [frame for frame in trace.frames if not _left_out(frame, scaffolding, touched)]
    kept += _early(trace, touched)
    ordered = list(_arranged(kept, said, renamed_channels(trace, said), asker_of(trace)))
    frames = [_plain(frame, n) for n, frame in enumerate(_rewritten(trace, ordered, said, extra, touched))]
    origin = tuple(frame.n for frame in ordered)
    touched[PIECES.name] += len(kept) - len(ordered)
    touched[ORDER.name] += list(origin) != sorted(origin)
    touched[MOMENTS.name] += any(frame.t for frame in kept)
    return Canonical(_bare(trace, frames), origin, +touched)


def _rewritten(
    trace: Trace, frames: list[Frame], said: Said, extra: Iterable[Volatile], touched: Counter[str]
) -> Iterator[Frame]:
    if asker_of(trace) is Sender.DRIVER:
        rewriter = Rewriter(trace, (*VALUES, *extra), touched)
        yield from (rewriter.rewritten(frame, said[frame.n]) for frame in frames)
    else:
        rewriter = Rewriter(trace, (*VALUES, *CLIENT_VALUES, *extra), touched)
        disguise = Disguise(trace, frames, touched)
        yield from (disguise.rewritten(rewriter.rewritten(frame, said[frame.n])) for frame in frames)


def _plain(frame: Frame, number: int) -> Frame:
    info = frame.info
    if frame.kind is Kind.MARK:
        info = {key: value for key, value in info.items() if key not in TIMES}
    return msgspec.structs.replace(frame, n=number, t=0.0, info=info)


def _bare(trace: Trace, frames: list[Frame]) -> Trace:
    subject, authority = trace.header.subject, authority_of(trace)
    shown = subject.replace(authority, f"({ADDRESS.name})") if authority else subject
    return Trace(msgspec.structs.replace(trace.header, started="", subject=shown), frames)


def _left_out(frame: Frame, scaffolding: frozenset[int], touched: Counter[str]) -> bool:
    names = [rule.name for rule in LEFT_OUT if rule.covers(frame)]
    if frame.n in scaffolding:
        names.append(SENTINELS.name)
    touched.update(names[:1])
    return bool(names)


def _sentinels(trace: Trace, said: Said) -> frozenset[int]:
    """The frames of sentinels and their answers; on HTTP, all of the request and its response."""
    found = [frame for frame in trace.frames if any(map(is_sentinel, said[frame.n]))]
    posts = {frame.channel for frame in found if frame.kind is Kind.REQUEST}
    numbers = {frame.n for frame in found}
    return frozenset(one.n for one in trace.frames if one.n in numbers or one.channel in posts)


def _early(trace: Trace, touched: Counter[str]) -> Iterator[Frame]:
    for number, connection in enumerate(left_early(trace), len(trace.frames)):
        touched[LEFT_EARLY.name] += 1
        info = {"label": LEFT_EARLY.name}
        yield Frame(number, 0.0, Sender.DRIVER, f"{connection}/{LEFT}", Kind.MARK, info=info)


def _arranged(frames: Iterable[Frame], said: Said, names: dict[str, str], asker: Sender) -> Iterator[Frame]:
    """Channel by channel, and on a shared one each answer behind its request."""
    channels: dict[str, list[Frame]] = defaultdict(list)
    for frame in frames:
        channel = names.get(frame.channel, frame.channel)
        channels[channel].append(msgspec.structs.replace(frame, channel=channel))
    for channel in sorted(channels, key=natural):
        inside = channels[channel]
        shared = any(frame.kind in SHARED for frame in inside)
        yield from _conversation(inside, said, asker) if shared else inside


def _conversation(frames: list[Frame], said: Said, asker: Sender) -> Iterator[Frame]:
    lanes: dict[str, list[Frame]] = defaultdict(list)
    for frame in _whole(frame for frame in frames if frame.sender is not asker):
        lanes[lane_of(frame, said[frame.n], asker)].append(frame)
    for frame in frames:
        if frame.sender is asker:
            yield frame
            asked = (one.id for one in said[frame.n] if one.shape is Shape.REQUEST)
            for request_id in asked:
                yield from lanes.pop(f"answer to {request_id!r}", ())
    for lane in sorted(lanes):
        yield from lanes[lane]


def _whole(frames: Iterable[Frame]) -> Iterator[Frame]:
    """Lines that were written piece by piece, put together."""
    held: Frame | None = None
    for frame in frames:
        if held is not None and frame.kind is Kind.LINE:
            frame = msgspec.structs.replace(frame, raw=held.raw + frame.raw)
        elif held is not None:
            yield held
        held = frame if frame.kind is Kind.LINE and not frame.raw.endswith(b"\n") else None
        if held is None:
            yield frame
    if held is not None:
        yield held
