"""HTTP conversations written by hand: a request and its response in one line each."""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

from assay.lab.harness.links.http_text import EVENT_STREAM, JSON, write_request
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import STILL_OPEN, Trace
from assay.revisions.revision import Revision

HOST = "127.0.0.1:8000"


class Said(Struct, frozen=True):
    """One HTTP request of the driver, and what the subject said to it."""

    body: Any = None
    status: int = 200
    answer: Any = None
    """A value for JSON; a list of bytes for the blocks of a stream; bytes for anything else."""
    method: str = "POST"
    headers: dict[str, str] = {}
    given: dict[str, str] = {}
    """Headers of the response."""
    over: bool = True
    left: bool = False
    """The driver hung up."""
    held: bool = False
    """The driver waited in vain for the end."""


def conversation(revision: Revision, *said: Said, transport: str = "http") -> Trace:
    frames: list[Frame] = []

    def add(sender: Sender, channel: str, kind: Kind, raw: bytes = b"", **info: Any) -> None:
        frames.append(Frame(len(frames), len(frames) / 1000, sender, channel, kind, raw, info))

    for number, one in enumerate(said):
        channel = f"1/{one.method.lower()}-{number}"
        body = b"" if one.body is None else json.dumps(one.body).encode()
        headers = {"Host": HOST, **one.headers}
        asked = write_request(one.method, "/mcp", list(headers.items()), body)
        add(Sender.DRIVER, channel, Kind.REQUEST, asked)
        add(Sender.SUBJECT, channel, Kind.HEAD, _head(one))
        for kind, raw in _parts(one.answer):
            add(Sender.SUBJECT, channel, kind, raw)
        if one.held:
            add(Sender.DRIVER, channel, Kind.MARK, label=STILL_OPEN)
        elif one.left:
            add(Sender.DRIVER, channel, Kind.END, clean=False)
        elif one.over:
            add(Sender.SUBJECT, channel, Kind.END, clean=True)
    return Trace(Header(revision.date, transport, f"http://{HOST}/mcp", "by-hand", closed=True), frames)


def _head(one: Said) -> bytes:
    kind = EVENT_STREAM if isinstance(one.answer, list) else JSON if one.answer is not None else None
    headers = {**({} if kind is None else {"Content-Type": kind}), **one.given}
    lines = [f"HTTP/1.1 {one.status} Whatever", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def _parts(answer: Any) -> list[tuple[Kind, bytes]]:
    if isinstance(answer, list):
        return [(Kind.EVENT, block) for block in answer]
    if isinstance(answer, bytes):
        return [(Kind.BODY, answer)] if answer else []
    return [] if answer is None else [(Kind.BODY, json.dumps(answer).encode())]


def event(message: Any = None, name: str | None = None) -> bytes:
    data = b"" if message is None else json.dumps(message).encode()
    return (b"" if name is None else b"id: %b\n" % name.encode()) + b"data: %b\n\n" % data


def error(number: Any, code: int, **data: Any) -> dict[str, Any]:
    told = {"code": code, "message": "no", **({"data": data} if data else {})}
    return {"jsonrpc": "2.0", "error": told, **({} if number is None else {"id": number})}
