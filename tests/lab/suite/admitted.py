"""Traces of connections that show tokens of one kind or another, written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from assay.lab.harness.subject.bearer import BEARER, USUAL
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision


def call(
    kind: str,
    status: int,
    *,
    does: str = "POST /mcp",
    sent: Mapping[str, str] | None = None,
    asks: Any = None,
    got: Mapping[str, str] | None = None,
    says: Any = None,
) -> list[Frame]:
    """The frames of one request on a connection that shows a token of that kind; they are numbered later."""
    head = _head(f"{does} HTTP/1.1", {"Host": "localhost:1", **(sent or {})})
    body = b"" if asks is None else json.dumps(asks).encode()
    answer = _head(f"HTTP/1.1 {status} Something", {"Content-Type": "application/json", **(got or {})})
    frames = [] if kind == USUAL else [_frame(Kind.MARK, info={"label": BEARER, "shows": kind})]
    frames += [_frame(Kind.REQUEST, head + body), _frame(Kind.HEAD, answer, Sender.SUBJECT)]
    if says is not None:
        frames.append(_frame(Kind.BODY, json.dumps(says).encode(), Sender.SUBJECT))
    return frames


def trace(*calls: list[Frame], revision: Revision = HANDSHAKE[-1], transport: str = "http") -> Trace:
    """Every call on a connection of its own."""
    made = [(number, frame) for number, frames in enumerate(calls, 1) for frame in frames]
    frames = [
        Frame(n, n / 1000, one.sender, _channel(number, one), one.kind, one.raw, one.info)
        for n, (number, one) in enumerate(made)
    ]
    return Trace(Header(revision.date, transport, "http://localhost:1/mcp", "by-hand", closed=True), frames)


def _channel(number: int, frame: Frame) -> str:
    return f"{number}/marks" if frame.kind is Kind.MARK else f"{number}/post-1"


def _frame(
    kind: Kind, raw: bytes = b"", sender: Sender = Sender.DRIVER, info: dict[str, Any] | None = None
) -> Frame:
    return Frame(0, 0.0, sender, "", kind, raw, info or {})


def _head(first: str, headers: Mapping[str, str]) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"
