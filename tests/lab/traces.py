"""Traces written by hand, for checks that are tried on what no server would say today."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import PROBE, PROBED, Trace
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision

WHO = {">": Sender.DRIVER, "<": Sender.SUBJECT}


def stdio_trace(*turns: tuple[str, Any], revision: Revision = HANDSHAKE[-1], closed: bool = True) -> Trace:
    """`(">", message)` from the driver and `("<", message)` from the subject; bytes are taken as they are."""
    frames = [
        Frame(n, n / 1000, WHO[who], "1/lines", Kind.LINE, _line(message))
        for n, (who, message) in enumerate(turns)
    ]
    return Trace(Header(revision.date, "stdio", "by hand", "by-hand", closed=closed), frames)


def http_trace(frames: Sequence[tuple[str, str, Kind, bytes]], revision: Revision = HANDSHAKE[-1]) -> Trace:
    """Frames as `(who, channel, kind, raw)`."""
    made = [
        Frame(n, n / 1000, WHO[who], channel, kind, raw) for n, (who, channel, kind, raw) in enumerate(frames)
    ]
    return Trace(Header(revision.date, "http", "http://localhost:1/mcp", "by-hand", closed=True), made)


def request(number: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params else {})}


def result(number: Any, **content: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": content}


def _line(message: Any) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"


def probed(trace: Trace, name: str, **info: Any) -> Trace:
    """The trace with the marks of one probe around all of it."""
    last = len(trace.frames) + 1
    inside = [msgspec.structs.replace(frame, n=frame.n + 1) for frame in trace.frames]
    begin = _mark(0, {"label": PROBE, "name": name, **info})
    return Trace(trace.header, [begin, *inside, _mark(last, {"label": PROBED, "name": name, "begin": 0})])


def _mark(n: int, info: dict[str, Any]) -> Frame:
    return Frame(n, n / 1000, Sender.DRIVER, "1/marks", Kind.MARK, info=info)
