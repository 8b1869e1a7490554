"""A trace in a few figures."""

from typing import Any

import msgspec
import pytest

from assay.lab.harness.driver.message_meta import CLIENT_KEY, SERVER_KEY
from assay.lab.harness.trace.frame import Sender
from assay.lab.harness.trace.summary import MOST, MOST_METHODS, summary
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.lab.traces import request, result, stdio_trace

CLIENT, SERVER = {"name": "a client", "version": "1.2"}, {"name": "a server", "version": "3"}
OPENING = request(1, "initialize", protocolVersion="2025-11-25", clientInfo=CLIENT)
OPENED = result(1, protocolVersion="2025-06-18", serverInfo=SERVER)
TURNS: tuple[tuple[str, Any], ...] = (
    (">", OPENING),
    ("<", OPENED),
    (">", {"jsonrpc": "2.0", "method": "notifications/initialized"}),
    (">", request(2, "tools/list")),
    ("<", {"jsonrpc": "2.0", "id": 2, "error": {"code": 1, "message": "no"}}),
)
EXPECTED = {
    "protocolVersion": "2025-06-18",
    "client": "a client 1.2",
    "server": "a server 3",
    "connections": 1,
    "fromClient": {"requests": 2, "notifications": 1},
    "fromServer": {"results": 1, "errors": 1},
    "methods": {"initialize": 1, "notifications/initialized": 1, "tools/list": 1},
}


def mirrored(trace: Trace) -> Trace:
    """The same conversation with the client as the subject."""
    other = {Sender.DRIVER: Sender.SUBJECT, Sender.SUBJECT: Sender.DRIVER}
    frames = [msgspec.structs.replace(frame, sender=other[frame.sender]) for frame in trace.frames]
    return Trace(msgspec.structs.replace(trace.header, role="client"), frames)


def test_conversation_is_counted_for_either_subject() -> None:
    trace = stdio_trace(*TURNS)
    assert summary(trace, of_client=False) == EXPECTED
    assert summary(mirrored(trace), of_client=True) == EXPECTED


def test_revision_without_a_handshake_names_both_sides_in_meta() -> None:
    asked = request(1, "server/discover", _meta={CLIENT_KEY: CLIENT})
    trace = stdio_trace((">", asked), ("<", result(1, _meta={SERVER_KEY: SERVER})), revision=PER_REQUEST[-1])
    known = summary(trace, of_client=False)
    assert (known["client"], known["server"]) == ("a client 1.2", "a server 3")
    assert known["protocolVersion"] == PER_REQUEST[-1].date


@pytest.mark.parametrize("info", [None, 7, [], {"name": 7}, {"name": None, "version": {}}])
def test_malformed_implementation_is_left_out(info: Any) -> None:
    trace = stdio_trace((">", request(1, "initialize")), ("<", result(1, serverInfo=info, _meta=info)))
    known = summary(trace, of_client=False)
    assert "server" not in known
    assert known["protocolVersion"] == HANDSHAKE[-1].date


def test_what_a_subject_chooses_is_bounded() -> None:
    turns = [("<", request(n, f"{n:04}{'x' * 2000}")) for n in range(200)]
    methods = summary(stdio_trace(*turns), of_client=True)["methods"]
    assert len(methods) == MOST_METHODS
    assert max(map(len, methods)) == MOST
