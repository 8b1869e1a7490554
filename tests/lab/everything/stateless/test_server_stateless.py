"""The check of server-stateless, on conversations written by hand."""

import json
from typing import Any

import pytest

from assay.lab.everything.stateless.server_stateless import (
    ASKS,
    LOGS,
    NEEDS_SAMPLING,
    NO_VERSION,
    UNASKED_LOG,
)
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY, SERVER_KEY, VERSION_KEY
from assay.lab.harness.links.http_text import write_request
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import PER_REQUEST
from tests.lab.everything.observing import broken, held, seen
from tests.lab.suite.conversation import Said, conversation, error
from tests.lab.traces import probed, request, result, stdio_trace

NEW = PER_REQUEST[-1]
CHECK = "server-stateless"
META: dict[str, Any] = {
    VERSION_KEY: NEW.date,
    CAPABILITIES_KEY: {},
    CLIENT_KEY: {"name": "n", "version": "1"},
}
SERVER = {SERVER_KEY: {"name": "s", "version": "1"}}
TOOLS: dict[str, Any] = {"tools": {"listChanged": True}}
Turn = tuple[str, Any]


def row(*names: str) -> set[str]:
    return {f"sep-2575-{name}" for name in names}


def discovered(number: int = 0, meta: Any = META, **changed: Any) -> list[Turn]:
    usual = {"supportedVersions": [NEW.date], "capabilities": TOOLS, "_meta": SERVER}
    answer = result(number, **{**usual, **changed})
    return [(">", request(number, "server/discover", _meta=meta)), ("<", answer)]


def stdio(*turns: Turn) -> Trace:
    return stdio_trace(*turns, revision=NEW)


@pytest.mark.parametrize(
    ("changed", "rows"),
    [
        ({}, row()),
        ({"supportedVersions": []}, row("server-implements-discover")),
        ({"supportedVersions": None}, row("server-implements-discover")),
        ({"capabilities": []}, row("server-implements-discover")),
        ({"_meta": {SERVER_KEY: {"name": "s"}}}, row("server-identifies-in-result-meta")),
    ],
)
def test_discovery(changed: dict[str, Any], rows: set[str]) -> None:
    assert broken(CHECK, stdio(*discovered(**changed))) == rows


def test_a_client_without_a_name_is_served() -> None:
    nameless = {key: value for key, value in META.items() if key != CLIENT_KEY}
    optional = row("request-meta-client-info-optional")
    assert optional <= held(CHECK, stdio(*discovered(meta=nameless)))
    refused = [(">", request(1, "server/discover", _meta=nameless)), ("<", error(1, -32602))]
    assert optional <= broken(CHECK, stdio(*discovered(), *refused))


def lacking(*keys: str) -> dict[str, Any]:
    return {"_meta": {key: value for key, value in META.items() if key not in keys}}


PROTOCOL_VERSION = "request-meta-invalid-missing-protocol-version"
CAPABILITIES = "request-meta-invalid-missing-client-capabilities"


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({}, "request-meta-invalid-missing-meta"),
        (lacking(VERSION_KEY), PROTOCOL_VERSION),
        (lacking(CAPABILITIES_KEY), CAPABILITIES),
    ],
)
def test_incomplete_requests_are_refused(params: dict[str, Any], name: str) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": params}
    for code, holds in ((-32602, True), (-32601, False)):
        found = seen(CHECK, stdio(*discovered(), (">", asked), ("<", error(1, code))))
        assert [ok for cited, ok in found if cited in row(name)] == [holds]


def test_who_answers_nothing_refuses_for_another_reason() -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}
    assert seen(CHECK, stdio((">", asked), ("<", error(1, -32602)))) == []


def posted(body: dict[str, Any], status: int, answer: Any, **headers: str) -> Said:
    return Said(body, status, answer, headers={"MCP-Protocol-Version": NEW.date, **headers})


DISCOVERED = posted(discovered()[0][1], 200, discovered()[1][1])
STATUSES = [
    (request(1, "server/discover", **lacking(CAPABILITIES_KEY)), -32602, 400, "http-server-meta-invalid-400"),
    (request(1, "ping", _meta=META), -32601, 404, "http-server-method-not-found-404-ping"),
    (request(1, "unknown/method", _meta=META), -32601, 404, "http-server-method-not-found-404"),
    (
        request(1, "server/discover", _meta={**META, VERSION_KEY: NO_VERSION}),
        -32020,
        400,
        "http-server-header-mismatch-400",
    ),
    (
        request(1, "tools/call", name=NEEDS_SAMPLING, _meta=META),
        -32021,
        400,
        "missing-capability-http-400",
    ),
]


@pytest.mark.parametrize(("body", "code", "status", "name"), STATUSES)
def test_statuses(body: dict[str, Any], code: int, status: int, name: str) -> None:
    for given in (status, 200, 500):
        trace = conversation(NEW, DISCOVERED, posted(body, given, error(1, code)))
        assert (row(name) <= held(CHECK, trace)) is (given == status)
        assert row("http-server-error-jsonrpc-id") <= held(CHECK, trace)


def test_errors_have_the_id_of_their_request() -> None:
    body = request(1, "unknown/method", _meta=META)
    for number in (None, "1", 2):
        trace = conversation(NEW, posted(body, 404, error(number, -32601)))
        assert broken(CHECK, trace) == row("http-server-error-jsonrpc-id")


UNSUPPORTED = "server-unsupported-version-error"


@pytest.mark.parametrize(
    ("code", "data", "holds"),
    [
        (-32022, {"supported": [NEW.date], "requested": NO_VERSION}, True),
        (-32022, {"supported": [], "requested": NO_VERSION}, False),
        (-32022, {"supported": [NO_VERSION], "requested": NO_VERSION}, False),
        (-32022, {"supported": [NEW.date], "requested": NEW.date}, False),
        (-32602, {"supported": [NEW.date], "requested": NO_VERSION}, False),
    ],
)
def test_a_version_that_nobody_speaks(code: int, data: dict[str, Any], holds: bool) -> None:
    asked = request(1, "server/discover", _meta={**META, VERSION_KEY: NO_VERSION})
    trace = stdio(*discovered(), (">", asked), ("<", error(1, code, **data)))
    assert (row(UNSUPPORTED) <= held(CHECK, trace)) is holds


def test_the_head_of_a_socket_says_nothing_of_its_messages() -> None:
    asked = json.dumps(request(1, "server/discover", _meta={**META, VERSION_KEY: NO_VERSION})).encode()
    refused = json.dumps(error(1, -32022, supported=[NEW.date], requested=NO_VERSION)).encode()
    upgrade = write_request("GET", "/mcp/ws", [("Upgrade", "websocket")])
    said = [(Sender.DRIVER, Kind.REQUEST, upgrade), (Sender.SUBJECT, Kind.HEAD, b"HTTP/1.1 101 Yes\r\n\r\n")]
    for sender, (_, message) in zip((Sender.DRIVER, Sender.SUBJECT), discovered(), strict=True):
        said.append((sender, Kind.TEXT, json.dumps(message).encode()))
    said += [(Sender.DRIVER, Kind.TEXT, asked), (Sender.SUBJECT, Kind.TEXT, refused)]
    frames = [Frame(n, 0.0, sender, "1/ws", kind, raw) for n, (sender, kind, raw) in enumerate(said)]
    trace = Trace(Header(NEW.date, "ws", "ws://localhost:1/mcp/ws", "by-hand", closed=True), frames)
    assert row(UNSUPPORTED) <= held(CHECK, trace)
    assert broken(CHECK, trace) == set()


@pytest.mark.parametrize(
    ("capabilities", "answer", "rows"),
    [
        ({}, error(1, -32021, requiredCapabilities={"sampling": {}}), row()),
        (
            {},
            error(1, -32021, requiredCapabilities=["sampling"]),
            row("server-rejects-undeclared-capability"),
        ),
        ({}, error(1, -32602), row("server-rejects-undeclared-capability")),
        ({}, result(1, content=[]), row("server-rejects-undeclared-capability")),
        ({"sampling": {}}, result(1, resultType="input_required"), row()),
        (
            {"sampling": {}},
            error(1, -32021, requiredCapabilities={"sampling": {}}),
            row("server-rejects-undeclared-capability"),
        ),
    ],
)
def test_what_a_client_did_not_declare(capabilities: Any, answer: Any, rows: set[str]) -> None:
    meta = {**META, CAPABILITIES_KEY: capabilities}
    asked = request(1, "tools/call", name=NEEDS_SAMPLING, _meta=meta)
    assert broken(CHECK, stdio((">", asked), ("<", answer))) == rows


@pytest.mark.parametrize(
    ("method", "capabilities", "answer", "rows"),
    [
        ("tools/list", TOOLS, result(1, tools=[]), row()),
        ("tools/list", TOOLS, error(1, -32601), row("discover-capabilities-match-handlers")),
        ("tools/list", {}, error(1, -32601), row()),
        ("tools/list", {}, result(1, tools=[]), row("discover-capabilities-match-handlers")),
        ("prompts/list", {}, error(1, -32601), row()),
        ("prompts/list", {}, result(1, prompts=[]), row("server-declares-prompts-in-discover")),
        ("prompts/list", {"prompts": {}}, result(1, prompts=[]), row()),
    ],
)
def test_what_is_declared_is_served(method: str, capabilities: Any, answer: Any, rows: set[str]) -> None:
    listed = [(">", request(1, method, _meta=META)), ("<", answer)]
    assert broken(CHECK, stdio(*discovered(capabilities=capabilities), *listed)) == rows


def test_no_request_of_the_server() -> None:
    asked = (">", request(1, "tools/call", name=ASKS, _meta=META))
    done = ("<", result(1, resultType="input_required"))
    quiet = row("http-server-no-independent-requests-on-stream")
    assert held(CHECK, stdio(asked, done)) == quiet
    assert broken(CHECK, stdio(asked, ("<", request(7, "elicitation/create")), done)) == quiet
    assert broken(CHECK, stdio(asked, ("<", error(1, -32603)))) == quiet


def logged(*, unasked: bool, asked: bool) -> Trace:
    """A call that asks for no log messages, in a probe, before it a call that does."""
    log = ("<", {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}})
    call = (">", request(1, "tools/call", name=LOGS, _meta=META))
    inside = probed(stdio(call, *([log] if unasked else []), ("<", result(1, content=[]))), UNASKED_LOG)
    after = stdio(*([log] if asked else []))
    frames = [*inside.frames, *(_later(frame, len(inside.frames)) for frame in after.frames)]
    return Trace(inside.header, frames)


def _later(frame: Any, by: int) -> Any:
    return type(frame)(frame.n + by, frame.t, frame.sender, frame.channel, frame.kind, frame.raw)


def test_log_messages_come_to_those_who_ask() -> None:
    quiet = row("server-no-log-without-loglevel")
    assert held(CHECK, logged(unasked=False, asked=True)) == quiet
    assert broken(CHECK, logged(unasked=True, asked=True)) == quiet
    assert seen(CHECK, logged(unasked=False, asked=False)) == []
