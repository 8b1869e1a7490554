"""HTTP Archive 1.2, which browsers and HTTP tools read. Bodies are as recorded: without transfer and content
coding.

Messages of a WebSocket are in `_webSocketMessages`, as Chromium writes them, and those of standard streams
likewise, in an entry with a `stdio:` address.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from assay.lab.harness.links.http_text import Head, body_of
from assay.lab.harness.run.run import Run
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import Transport
from assay.model.version import VERSION

from .moment import notes, seconds_of, text_of

_MESSAGES: Final = {Kind.TEXT: 1, Kind.BINARY: 2, Kind.LINE: 1}
"""Kinds of frames that carry messages, with the opcode of a WebSocket."""
_NO_SIZE: Final = -1


def render(run: Run, traffic: Sequence[tuple[str, Trace]]) -> bytes:
    entries = [entry for path, trace in traffic for entry in _entries(trace, notes(run, path))]
    log = {
        "version": "1.2",
        "creator": {"name": "Assay", "version": VERSION},
        "entries": sorted(entries, key=lambda entry: str(entry["startedDateTime"])),
    }
    return msgspec.json.format(msgspec.json.encode({"log": log}), indent=1) + b"\n"


def _entries(trace: Trace, comments: dict[int, list[str]]) -> Iterator[dict[str, Any]]:
    for call in trace.calls:
        yield _entry(trace, call, comments)
    lines = [frame for frame in trace.frames if frame.kind is Kind.LINE]
    if lines:
        yield _stdio_entry(trace, lines, comments)


def _entry(trace: Trace, call: Call, comments: dict[int, list[str]]) -> dict[str, Any]:
    begin, wait, total = _times(call)
    entry: dict[str, Any] = {
        "startedDateTime": text_of(seconds_of(trace, call.request)),
        "time": round(total * 1000, 3),
        "request": _request(call, trace),
        "response": _response(call),
        "cache": {},
        "timings": {
            "send": 0,
            "wait": round((wait - begin) * 1000, 3),
            "receive": round((begin + total - wait) * 1000, 3),
        },
        "connection": call.request.connection,
        "comment": "\n".join(text for frame in call.frames for text in comments.get(frame.n, ())),
    }
    messages = [frame for frame in trace.frames if _is_message(frame, call.channel)]
    if call.request.stream == "ws":
        entry["_resourceType"] = "websocket"
        entry["_webSocketMessages"] = [_message(trace, frame) for frame in messages]
    return entry


def _is_message(frame: Frame, channel: str) -> bool:
    return frame.channel == channel and frame.kind in (Kind.TEXT, Kind.BINARY)


def _times(call: Call) -> tuple[float, float, float]:
    begin = call.request.t
    head = next((frame.t for frame in call.received if frame.kind is Kind.HEAD), begin)
    end = max((frame.t for frame in call.received), default=begin)
    return begin, head, max(end, head) - begin


def _request(call: Call, trace: Trace) -> dict[str, Any]:
    sent, body = call.sent, body_of(call.request.raw)
    url = f"{_origin(trace, sent)}{sent.target}"
    request: dict[str, Any] = {
        "method": sent.method,
        "url": url,
        "httpVersion": sent.start[2] or "HTTP/1.1",
        "cookies": [],
        "headers": _headers(sent),
        "queryString": [{"name": name, "value": value} for name, value in _query(sent.target)],
        "headersSize": len(call.request.raw) - len(body),
        "bodySize": len(body),
    }
    if body:
        text = body.decode("utf-8", "replace")
        request["postData"] = {"mimeType": sent.get("content-type") or "", "text": text}
    return request


def _origin(trace: Trace, sent: Head) -> str:
    try:
        parts = urlsplit(trace.header.subject)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme and parts.netloc:
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return f"http://{sent.get('host') or 'unknown'}"


def _query(target: str) -> list[tuple[str, str]]:
    return parse_qsl(target.partition("?")[2], keep_blank_values=True)


def _response(call: Call) -> dict[str, Any]:
    head, body = call.head, call.body
    text = body.decode("utf-8", "replace")
    content = {"size": len(body), "mimeType": "" if head is None else head.media_type, "text": text}
    return {
        "status": call.status,
        "statusText": "" if head is None else head.start[2],
        "httpVersion": "HTTP/1.1" if head is None else head.start[0],
        "cookies": [],
        "headers": [] if head is None else _headers(head),
        "content": content,
        "redirectURL": "" if head is None else head.get("location") or "",
        "headersSize": _NO_SIZE,
        "bodySize": len(body),
    }


def _headers(head: Head) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in head.headers]


def _message(trace: Trace, frame: Frame) -> dict[str, Any]:
    return {
        "type": "send" if frame.sender is Sender.DRIVER else "receive",
        "time": seconds_of(trace, frame),
        "opcode": _MESSAGES[frame.kind],
        "data": frame.raw.decode("utf-8", "replace"),
    }


def _stdio_entry(trace: Trace, lines: Sequence[Frame], comments: dict[int, list[str]]) -> dict[str, Any]:
    duration = round((lines[-1].t - lines[0].t) * 1000, 3)
    empty: dict[str, Any] = {"cookies": [], "headers": [], "headersSize": _NO_SIZE, "bodySize": _NO_SIZE}
    url = f"{Transport.STDIO}:{trace.header.scenario}"
    content = {"size": 0, "mimeType": "application/json"}
    return {
        "startedDateTime": text_of(seconds_of(trace, lines[0])),
        "time": duration,
        "request": {"method": "STDIO", "url": url, "httpVersion": "", "queryString": [], **empty},
        "response": {
            "status": 0,
            "statusText": "",
            "httpVersion": "",
            "content": content,
            "redirectURL": "",
            **empty,
        },
        "cache": {},
        "timings": {"send": 0, "wait": 0, "receive": duration},
        "comment": "\n".join(text for texts in comments.values() for text in texts),
        "_resourceType": "websocket",
        "_webSocketMessages": [_message(trace, frame) for frame in lines],
    }
