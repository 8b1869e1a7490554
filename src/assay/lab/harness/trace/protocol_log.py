"""The protocol log in `checks.json`: an `INFO` entry for each request and response, or for each message.

The entries judge nothing. Their ids are those of the official suite's request log.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from assay.lab.harness.links.http_text import Head, body_of, parse_head
from assay.lab.harness.verdict import Verdict

from .frame import Frame, Kind
from .message import Message
from .trace import Trace

INCOMING: Final = "incoming-request"
OUTGOING: Final = "outgoing-response"
LONGEST: Final = 16 * 1024
"""Bytes of a body that an entry shows; the trace has all."""
_NAMES: Final = {INCOMING: "Incoming Request", OUTGOING: "Outgoing Response"}


def log_entries(trace: Trace) -> Iterator[dict[str, Any]]:
    """Entries in the order of the frames."""
    messages: dict[int, list[Message]] = {}
    for message in trace.messages:
        messages.setdefault(message.frame.n, []).append(message)
    for frame in trace.frames:
        details = _details(frame)
        if details is not None:
            yield _entry(trace, frame, details, messages.get(frame.n, []))


def _details(frame: Frame) -> dict[str, Any] | None:
    match frame.kind:
        case Kind.REQUEST:
            head = parse_head(frame.raw)
            return {
                "method": head.method,
                "path": head.target,
                "headers": _joined(head),
                "body": _text(body_of(frame.raw)),
            }
        case Kind.HEAD:
            head = parse_head(frame.raw)
            return {"statusCode": head.status, "headers": _joined(head)}
        case Kind.BODY | Kind.EVENT | Kind.LINE | Kind.TEXT:
            return {"body": _text(frame.raw)}
    return None


def _joined(head: Head) -> dict[str, str]:
    """Header values by name; repeated headers are joined with commas."""
    joined: dict[str, str] = {}
    for name, value in head.headers:
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined


def _text(data: bytes) -> str:
    cut = "" if len(data) <= LONGEST else f"… ({len(data)} bytes)"
    return data[:LONGEST].decode("utf-8", "replace") + cut


def _entry(trace: Trace, frame: Frame, details: dict[str, Any], messages: list[Message]) -> dict[str, Any]:
    name = INCOMING if frame.sender == "subject" else OUTGOING
    methods = [message.method for message in messages if message.method]
    method = {"mcpMethod": methods[0]} if methods else {}
    description = " ".join(filter(None, (details.get("method"), details.get("path"), *methods[:1])))
    return {
        "id": name,
        "name": _NAMES[name],
        "description": description or f"{frame.kind} on {frame.channel}",
        "status": str(Verdict.INFO),
        "timestamp": _moment(trace.header.started, frame.t),
        "details": {
            "revision": trace.header.revision,
            "transport": trace.header.transport,
            "channel": frame.channel,
            **details,
            **method,
        },
    }


def _moment(started: str, seconds: float) -> str:
    try:
        moment = datetime.fromisoformat(started) + timedelta(seconds=seconds)
    except ValueError:  # traces of other tools may lack the time
        return started
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
