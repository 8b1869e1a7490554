"""Recorded conversations, written as a tap writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.tap.capture import Capture
from assay.lab.tap.options import TapOptions

INFO = {"name": "x", "version": "1"}
OFFER = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": INFO}
AGREED = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": INFO}
TOOL = {"name": "add", "inputSchema": {"type": "object"}}
USUAL: list[tuple[Sender, dict[str, Any]]] = [
    (Sender.DRIVER, {"id": 1, "method": "initialize", "params": OFFER}),
    (Sender.SUBJECT, {"id": 1, "result": AGREED}),
    (Sender.DRIVER, {"method": "notifications/initialized"}),
    (Sender.DRIVER, {"id": 2, "method": "tools/list"}),
    (Sender.SUBJECT, {"id": 2, "result": {"tools": [TOOL]}}),
]
FAULTY_SERVER = [*USUAL[:4], (Sender.SUBJECT, {"id": 2, "result": {"tools": [TOOL, {"name": "no schema"}]}})]
FAULTY_CLIENT = [*USUAL, (Sender.DRIVER, {"id": 2, "method": "tools/list"})]


def recorded(
    path: Path, messages: list[tuple[Sender, dict[str, Any]]] = USUAL, *, ended: bool = True
) -> Path:
    """The directory of a tap that saw these messages on stdio."""
    capture = Capture(TapOptions(output=path), "server.py")
    conversation = capture.begin("stdio")
    assert conversation is not None
    for sender, fields in messages:
        line = msgspec.json.encode({"jsonrpc": "2.0", **fields}) + b"\n"
        conversation.record(sender, "1/lines", Kind.LINE, line)
    conversation.flush()
    if ended:
        capture.close()
    return capture.directory
