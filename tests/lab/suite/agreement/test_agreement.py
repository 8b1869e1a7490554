"""What a server declares, lists and names agrees with what it serves."""

from typing import Any

import pytest

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.lab.traces import request, result, stdio_trace

CHECKS = protocol_suite().checks
OPENING = request(1, "initialize", protocolVersion=HANDSHAKE[-1].date, capabilities={}, clientInfo={})
META = {VERSION_KEY: PER_REQUEST[-1].date, CAPABILITIES_KEY: {}}


def broken(check: str, trace: Trace) -> list[str]:
    return [each.observed for each in CHECKS[check].judge(trace) if not each.holds]


def opened(capabilities: dict[str, Any], *turns: tuple[str, Any]) -> Trace:
    return stdio_trace((">", OPENING), ("<", result(1, capabilities=capabilities)), *turns)


def error(number: Any, code: int, message: str, **data: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message, "data": data}}


NO_METHOD = ("<", error(2, -32601, "Method not found"))


def test_declared_capability_without_a_list_is_reported() -> None:
    trace = opened({"tools": {}}, (">", request(2, "tools/list")), NO_METHOD)
    assert broken("agreement.declared-lists", trace)


@pytest.mark.parametrize(
    ("capabilities", "params"), [({}, {}), ({"tools": {}}, {"cursor": "a cursor of the lab's own"})]
)
def test_list_may_be_refused_if_it_is_undeclared_or_asked_for_with_a_cursor(
    capabilities: dict[str, Any], params: dict[str, Any]
) -> None:
    trace = opened(capabilities, (">", request(2, "tools/list", **params)), NO_METHOD)
    assert not broken("agreement.declared-lists", trace)


def used(tool: dict[str, Any], reply: dict[str, Any], *later: tuple[str, Any]) -> Trace:
    return opened(
        {"tools": {}},
        (">", request(2, "tools/list")),
        ("<", result(2, tools=[tool])),
        (">", request(3, "tools/call", name="look", arguments={})),
        ("<", reply),
        *later,
    )


TOOL = {"name": "look", "inputSchema": {"type": "object"}}
REFUSALS = (
    error(3, -32601, "Method not found"),
    error(3, -32602, "Unknown tool: look"),
    error(3, -32602, "Tool 'look' not found"),
    error(3, -32602, "The tool look does not exist"),
)


@pytest.mark.parametrize("refusal", REFUSALS)
def test_listed_tool_that_is_unknown_is_reported(refusal: dict[str, Any]) -> None:
    assert broken("agreement.listed-served", used(TOOL, refusal))


@pytest.mark.parametrize(
    "reply",
    [
        error(3, -32602, "Invalid arguments for tool look: path is required"),
        error(3, -32603, "File not found: /tmp/notes"),
        result(3, content=[{"type": "text", "text": "Unknown tool box"}], isError=True),
    ],
)
def test_failure_of_a_listed_tool_is_not_taken_for_an_unknown_tool(reply: dict[str, Any]) -> None:
    assert not broken("agreement.listed-served", used(TOOL, reply))


def test_tool_that_needs_a_task_may_refuse_a_plain_call() -> None:
    tool = {**TOOL, "execution": {"taskSupport": "required"}}
    assert not broken("agreement.listed-served", used(tool, REFUSALS[0]))


def test_tool_that_left_the_list_may_be_unknown() -> None:
    later = ((">", request(4, "tools/list")), ("<", result(4, tools=[])))
    assert not broken("agreement.listed-served", used(TOOL, REFUSALS[1], *later))


def discovered(*replies: dict[str, Any]) -> Trace:
    turns = [
        turn
        for number, content in enumerate(replies)
        for turn in ((">", request(number, "server/discover", _meta=META)), ("<", result(number, **content)))
    ]
    return stdio_trace(*turns, revision=PER_REQUEST[-1])


VERSIONS = [PER_REQUEST[-1].date, HANDSHAKE[-1].date]
SAME = {"capabilities": {"tools": {}}, "supportedVersions": VERSIONS}


def test_declaration_may_name_versions_in_any_order() -> None:
    trace = discovered(SAME, {**SAME, "supportedVersions": VERSIONS[::-1]})
    assert not broken("agreement.same-declaration", trace) and not broken("agreement.versions-named", trace)


@pytest.mark.parametrize(
    "change",
    [{"capabilities": {}}, {"capabilities": {"tools": {"listChanged": True}}}, {"supportedVersions": []}],
)
def test_declaration_that_changes_is_reported(change: dict[str, Any]) -> None:
    assert broken("agreement.same-declaration", discovered(SAME, {**SAME, **change}))


def test_refusal_that_names_other_versions_is_reported() -> None:
    refusal = error(9, -32022, "Unsupported version", supported=["2031-01-01"])
    other = request(9, "tools/list", _meta={**META, VERSION_KEY: "1900-01-01"})
    turns = [(">", request(0, "server/discover", _meta=META)), ("<", result(0, **SAME))]
    trace = stdio_trace(*turns, (">", other), ("<", refusal), revision=PER_REQUEST[-1])
    assert broken("agreement.versions-named", trace) == ["2031-01-01"]


def test_served_version_that_discovery_does_not_name_is_reported() -> None:
    turns = [(">", request(0, "server/discover", _meta=META)), ("<", result(0, supportedVersions=[]))]
    served = [(">", request(1, "tools/list", _meta=META)), ("<", result(1, tools=[]))]
    assert broken("agreement.versions-named", stdio_trace(*turns, *served, revision=PER_REQUEST[-1]))


UPDATED = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a://b/c"}}
SUBSCRIBED = ((">", request(2, "resources/subscribe", uri="a://b")), ("<", result(2)))
ENDED = ((">", request(3, "resources/unsubscribe", uri="a://b")), ("<", result(3)))


def test_update_belongs_to_a_subscription_or_a_part_of_it() -> None:
    assert not broken("resources.only-subscribed", opened({}, *SUBSCRIBED, ("<", UPDATED)))


@pytest.mark.parametrize("turns", [(), (*SUBSCRIBED, *ENDED)])
def test_update_without_a_subscription_is_reported(turns: tuple[Any, ...]) -> None:
    assert broken("resources.only-subscribed", opened({}, *turns, ("<", UPDATED)))


def test_update_that_crosses_the_end_of_a_subscription_is_allowed() -> None:
    trace = opened({}, *SUBSCRIBED, ENDED[0], ("<", UPDATED), ENDED[1])
    assert not broken("resources.only-subscribed", trace)


def pages(*pages: dict[str, Any]) -> Trace:
    turns: list[tuple[str, Any]] = []
    cursor: dict[str, Any] = {}
    for number, page in enumerate(pages, 2):
        reply = page if "error" in page else result(number, **page)
        turns += [(">", request(number, "tools/list", **cursor)), ("<", {**reply, "id": number})]
        cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else {}
    return opened({}, *turns)


FIRST = {"tools": [TOOL], "nextCursor": "2"}


@pytest.mark.parametrize("second", [FIRST, error(3, -32602, "Unknown cursor"), {"tools": [TOOL]}])
def test_pages_that_do_not_belong_together_are_reported(second: dict[str, Any]) -> None:
    assert broken("utilities.one-pass", pages(FIRST, second))


def test_pages_that_belong_together_pass() -> None:
    assert not broken("utilities.one-pass", pages(FIRST, {"tools": [{**TOOL, "name": "listen"}]}))


def test_readable_request_is_not_a_parse_error() -> None:
    parse_error = error(2, -32700, "Parse error")
    assert broken("jsonrpc.readable", opened({}, (">", request(2, "no/such")), ("<", parse_error)))
    assert not broken("jsonrpc.readable", opened({}, (">", request(2, "no/such")), NO_METHOD))
