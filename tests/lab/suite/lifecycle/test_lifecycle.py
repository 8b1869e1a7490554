"""Checks of the handshake on traces written by hand: what they find, and what they let pass."""

from typing import Any

import msgspec
import pytest

from assay.lab.harness.subject.discovery import DISCOVERY
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import BY_DATE, HANDSHAKE
from assay.revisions.revision import Revision
from tests.lab.suite.judging import seen
from tests.lab.traces import request, result, stdio_trace

OLDEST, *_, SECOND, NEWEST = HANDSHAKE
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ROOTS = request("r", "roots/list")
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
LOG = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}


def greeting(*before: dict[str, Any], after: tuple[dict[str, Any], ...] = (), **declared: Any) -> Trace:
    """A handshake: what the subject says before its answer, and between that and the client's readiness."""
    return stdio_trace(
        (">", request(0, "initialize", protocolVersion=NEWEST.date, capabilities=declared)),
        *(("<", message) for message in before),
        ("<", result(0, protocolVersion=NEWEST.date, capabilities={"tools": {}}, serverInfo={})),
        *(("<", message) for message in after),
        (">", READY),
    )


@pytest.mark.parametrize(("early", "holds"), [(CHANGED, False), (ROOTS, False), (LOG, True)])
def test_before_its_answer_a_server_may_log_and_nothing_else(early: dict[str, Any], holds: bool) -> None:
    assert seen("lifecycle.first-interaction", greeting(early)) == [("LIFE-01", holds)]
    assert seen("lifecycle.first-interaction", greeting()) == [("LIFE-01", True)]


def test_only_the_first_interaction_of_a_connection_is_judged() -> None:
    trace = stdio_trace((">", request(1, "ping")), ("<", CHANGED), (">", request(2, "initialize")))
    assert seen("lifecycle.first-interaction", trace) == []


@pytest.mark.parametrize(("early", "holds"), [(ROOTS, False), (request("p", "ping"), True), (CHANGED, True)])
def test_before_the_client_is_ready_it_is_asked_only_pings(early: dict[str, Any], holds: bool) -> None:
    assert seen("lifecycle.early-request", greeting(after=(early,))) == [("LIFE-06", holds)]


@pytest.mark.parametrize(
    ("server", "holds"),
    [
        ({"name": "a", "version": "1"}, True),
        ({"name": "a"}, False),
        ({"name": 1, "version": "1"}, False),
        ([], False),
    ],
)
def test_identity_has_a_name_and_a_version(server: Any, holds: bool) -> None:
    answer = result(0, protocolVersion="x", capabilities={}, serverInfo=server)
    trace = stdio_trace((">", request(0, "initialize")), ("<", answer))
    assert seen("lifecycle.initialize-result", trace) == [("LIFE-03", holds)]


def negotiated(*pairs: tuple[str, Any]) -> Trace:
    """Versions asked for, and the answers: a version, or an error."""
    turns: list[tuple[str, Any]] = []
    for number, (asked, offered) in enumerate(pairs):
        error = {"jsonrpc": "2.0", "id": number, "error": offered}
        turns.append((">", request(number, "initialize", protocolVersion=asked)))
        turns.append(("<", result(number, protocolVersion=offered) if isinstance(offered, str) else error))
    return stdio_trace(*turns)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("odd", "odd")], [("LIFE-10", False)]),
        ([("1999-12-31", {"code": -32602, "message": ""})], [("LIFE-10", False)]),
        # Not in the format of a version.
        ([("odd", {"code": -32602, "message": ""})], []),
        ([("odd", NEWEST.date), (NEWEST.date, SECOND.date)], [("LIFE-10", False)]),
        ([("odd", NEWEST.date), (NEWEST.date, NEWEST.date)], [("LIFE-10", True), ("LIFE-11", True)]),
        ([("odd", OLDEST.date), (NEWEST.date, NEWEST.date)], [("LIFE-10", True), ("LIFE-11", False)]),
        ([("odd", OLDEST.date), (OLDEST.date, OLDEST.date)], [("LIFE-10", True), ("LIFE-11", True)]),
        # A version that came after this suite.
        ([("odd", "2999-01-01"), ("2999-01-01", "2999-01-01")], [("LIFE-10", True)]),
        ([(NEWEST.date, OLDEST.date)], []),
    ],
)
def test_an_offer_must_be_another_version_and_meant(
    pairs: list[tuple[str, Any]], expected: list[tuple[str, bool]]
) -> None:
    assert seen("lifecycle.version-offered", negotiated(*pairs)) == expected


@pytest.mark.parametrize(
    ("scenario", "expected"), [("lifecycle.ping", [("LIFE-09", False)]), (DISCOVERY, [])]
)
def test_a_version_must_be_confirmed_once_it_is_known_to_be_supported(
    scenario: str, expected: list[tuple[str, bool]]
) -> None:
    trace = negotiated((NEWEST.date, SECOND.date))
    trace = Trace(msgspec.structs.replace(trace.header, scenario=scenario), trace.frames)
    assert seen("lifecycle.version-echoed", trace) == expected


def answered(revision: Revision, **content: Any) -> Trace:
    return stdio_trace((">", request(1, "tools/call")), ("<", result(1, **content)), revision=revision)


@pytest.mark.parametrize("revision", BY_DATE.values(), ids=str)
def test_content_is_of_the_agreed_revision(revision: Revision) -> None:
    if revision not in HANDSHAKE:
        assert seen("lifecycle.version-respected", answered(revision, content=[])) == []
        return
    link = {"type": "resource_link", "uri": "a:b", "name": "b"}
    known = "resource_link" in revision.content
    trace = answered(revision, content=[link])
    assert seen("lifecycle.version-respected", trace) == [("LIFE-13", known)]


def test_methods_and_results_of_another_revision_are_found_and_a_servers_own_are_not() -> None:
    foreign = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {}}
    own = {"jsonrpc": "2.0", "method": "notifications/weather", "params": {}}
    trace = stdio_trace(("<", foreign), ("<", own), ("<", LOG))
    assert seen("lifecycle.version-respected", trace) == [("LIFE-13", False), ("LIFE-13", True)]
    assert seen("lifecycle.version-respected", answered(NEWEST, resultType="input_required")) == [
        ("LIFE-13", False)
    ]
    assert seen("lifecycle.version-respected", answered(NEWEST, content=[{"type": "odd"}, 3])) == [
        ("LIFE-13", True)
    ]


def test_only_declared_capabilities_are_used_by_either_side() -> None:
    assert seen("lifecycle.negotiated-only", greeting(after=(ROOTS,))) == [("LIFE-14", False)]
    assert seen("lifecycle.negotiated-only", greeting(after=(ROOTS,), roots={})) == [("LIFE-14", True)]
    # The server of this trace declares `tools` without `listChanged`.
    assert seen("lifecycle.negotiated-only", greeting(after=(CHANGED,))) == [("LIFE-14", False)]
