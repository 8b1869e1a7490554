"""What one check of clients sees in a trace written by hand; `<` is the client, `>` the lab."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision
from tests.lab.traces import request, result

OLD, NEW = HANDSHAKE[-1], PER_REQUEST[-1]
SUITE = suite_named("client")
ENDED = Frame(0, 0.0, Sender.SUBJECT, "client/process", Kind.EXIT, info={"status": 0})
META = {f"io.modelcontextprotocol/{key}": value for key, value in (("protocolVersion", NEW.date),)}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
INITIALIZE = request(
    0, "initialize", protocolVersion=OLD.date, capabilities={}, clientInfo={"name": "a", "version": "1"}
)
WELCOME = result(
    0, protocolVersion=OLD.date, capabilities={"tools": {}}, serverInfo={"name": "b", "version": "1"}
)


def verdicts(check: str, row: str, trace: Trace) -> list[bool]:
    """What it says of one row."""
    return [one.holds for one in SUITE.checks[check].judge(trace) if one.requirement == row]


def trace_of(*frames: Frame, transport: str = "stdio", revision: Revision = OLD) -> Trace:
    """Frames in this order, numbered anew; those without a time are a millisecond apart."""
    made = [
        Frame(n, one.t or n / 1000, one.sender, one.channel, one.kind, one.raw, one.info)
        for n, one in enumerate(frames)
    ]
    return Trace(Header(revision.date, transport, "by hand", "by-hand", closed=True, role="client"), made)


def mark(label: str, channel: str = "host/marks", t: float = 0.0, **info: Any) -> Frame:
    return Frame(0, t, Sender.DRIVER, channel, Kind.MARK, info={"label": label, **info})
