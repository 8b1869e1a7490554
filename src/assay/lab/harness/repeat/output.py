"""What a line printed, as a trace: the recorded frames, with the answers that were printed now."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from assay.lab.harness.links.http_text import EVENT_STREAM, HEAD_END, parse_head
from assay.lab.harness.links.split import Blocks
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace

from .message_line import MessageLine
from .section import renumbered

_EXIT: Final = re.compile(rb"\n?\(curl: exit (\d+)\)\n?$")
_STARTS: Final = re.compile(rb"\n(?=HTTP/1\.1 |\(curl: exit 52\))")
"""Where the output of a request starts: a response, or none (status 52 of curl)."""
_TIMED_OUT: Final = 28
_NO_RESPONSE: Final = 52
_CUT: Final = {0: "", _NO_RESPONSE: "the connection ended before a response head: b''"}
"""What the driver records for these statuses."""
_ANSWER: Final = (Kind.HEAD, Kind.BODY, Kind.EVENT, Kind.END)


def printed_trace(line: MessageLine, output: bytes) -> Trace:
    """The trace of a line that was run: checks see in it what its user sees."""
    kinds = {frame.kind for frame in line.trace.frames}
    printed = _http(line, output) if Kind.REQUEST in kinds else _stdio(line, output)
    frames = [replace(frame, t=float(place)) for place, frame in enumerate(printed)]
    return renumbered(line.trace, frames)


def _http(line: MessageLine, output: bytes) -> Iterator[Frame]:
    by_channel = dict(zip(line.shown, _STARTS.split(b"\n" + output)[1:], strict=False))
    for frame in line.trace.frames:
        if frame.channel not in line.shown or frame.kind not in _ANSWER:
            yield frame
        if frame.kind is Kind.REQUEST and frame.channel in by_channel:
            yield from _response(frame, by_channel[frame.channel])


def _response(request: Frame, text: bytes) -> Iterator[Frame]:
    def frame(kind: Kind, raw: bytes = b"", **info: Any) -> Frame:
        return Frame(request.n, 0.0, Sender.SUBJECT, request.channel, kind, raw, info)

    end = _EXIT.search(text)
    status = int(end[1]) if end is not None else 0
    response = text[: end.start()] if end is not None else text.removesuffix(b"\n")  # of the `echo` after it
    if response:
        yield from _parts(frame, response)
    if status != _TIMED_OUT:
        yield frame(Kind.END, clean=status == 0, problem=_CUT.get(status, "the connection ended"))


def _parts(frame: Callable[[Kind, bytes], Frame], response: bytes) -> Iterator[Frame]:
    head, _, body = response.partition(HEAD_END)
    yield frame(Kind.HEAD, head + HEAD_END)
    if parse_head(head).media_type == EVENT_STREAM:
        blocks = Blocks()
        yield from (frame(Kind.EVENT, block) for block in blocks.feed(body + b"\n" * body.endswith(b"\n")))
        yield from (frame(Kind.EVENT, blocks.rest),) if blocks.rest.strip() else ()
    elif body:
        yield frame(Kind.BODY, body)


def _stdio(line: MessageLine, output: bytes) -> Iterator[Frame]:
    """Printed lines take the places of recorded ones with the same id or method; the others come last."""
    *lines, rest_of_output = output.split(b"\n")
    printed = [*(line + b"\n" for line in lines), *([rest_of_output] if rest_of_output else [])]
    places = {frame.n: _key(frame.raw) for frame in _answers(line.trace.frames)}
    taken: dict[int, bytes] = {}
    rest: list[bytes] = []
    for raw in printed:
        free = (n for n in places if n > max(taken, default=-1))  # in the order in which they were printed
        place = next((n for n in free if places[n] == _key(raw)), None)
        if place is None:
            rest.append(raw)
        else:
            taken[place] = raw
    last = max(frame.n for frame in line.trace.frames if frame.sender is Sender.DRIVER and frame.raw)
    last = max((last, *taken))
    for frame in line.trace.frames:
        if frame.n in taken:
            yield replace(frame, raw=taken[frame.n])
        elif frame.n not in places:
            yield frame
        if frame.n == last:
            yield from (Frame(last, 0.0, Sender.SUBJECT, line.shown[0], Kind.LINE, raw) for raw in rest)


def _answers(frames: Iterable[Frame]) -> list[Frame]:
    return [frame for frame in frames if frame.kind is Kind.LINE and frame.sender is Sender.SUBJECT]


def _key(raw: bytes) -> str:
    """The id of a response, the method of another message, or those of the members of a batch."""
    try:
        return _name(msgspec.json.decode(raw))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return ""


def _name(value: Any) -> str:
    if isinstance(value, list):
        return f"batch of {', '.join(_name(member) for member in value if isinstance(member, dict))}"
    if not isinstance(value, dict):
        return ""
    return f"method {value['method']}" if "method" in value else f"id {value.get('id')}"
