"""Handwritten traces, for checks of messages that no current server sends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import PROBE, PROBED, Trace
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision

SENDERS = {">": Sender.DRIVER, "<": Sender.SUBJECT}


def stdio_trace(*turns: tuple[str, Any], revision: Revision = HANDSHAKE[-1], closed: bool = True) -> Trace:
    """`(">", message)` from the driver and `("<", message)` from the subject; bytes are used verbatim."""
    frames = [
        Frame(n, n / 1000, SENDERS[arrow], "1/lines", Kind.LINE, _line(message))
        for n, (arrow, message) in enumerate(turns)
    ]
    return Trace(Header(revision.date, "stdio", "by hand", "by-hand", closed=closed), frames)


def http_trace(frames: Sequence[tuple[str, str, Kind, bytes]], revision: Revision = HANDSHAKE[-1]) -> Trace:
    """Frames as `(arrow, channel, kind, raw)`."""
    header = Header(revision.date, "http", "http://localhost:1/mcp", "by-hand", closed=True)
    return Trace(
        header,
        [
            Frame(n, n / 1000, SENDERS[arrow], channel, kind, raw)
            for n, (arrow, channel, kind, raw) in enumerate(frames)
        ],
    )


def request(number: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params else {})}


def described(number: Any, method: str, revision: Revision, **params: Any) -> dict[str, Any]:
    """A complete request of a revision in which each request describes itself."""
    meta = {VERSION_KEY: revision.date, CAPABILITIES_KEY: {}}
    return request(number, method, _meta=meta, **params)


def result(number: Any, **content: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": content}


def _line(message: Any) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"


def probed(trace: Trace, name: str, **info: Any) -> Trace:
    """The whole trace as one probe."""
    last = len(trace.frames) + 1
    inside = [msgspec.structs.replace(frame, n=frame.n + 1) for frame in trace.frames]
    begin = _mark(0, {"label": PROBE, "name": name, **info})
    return Trace(trace.header, [begin, *inside, _mark(last, {"label": PROBED, "name": name, "begin": 0})])


def _mark(n: int, info: dict[str, Any]) -> Frame:
    return Frame(n, n / 1000, Sender.DRIVER, "1/marks", Kind.MARK, info=info)
