"""Which operations are sent: those that the server offers and that are permitted."""

from collections import Counter
from typing import Any

import pytest

from assay.lab.error import InvalidOptions
from assay.lab.harness.subject.facts import Facts, Permission, ToolCalls
from assay.lab.load.operation import encode, message_bytes
from assay.lab.load.traffic import cycle_of, parse_scenario, traffic_of
from tests.lab.load.scripted import HANDSHAKE, PER_REQUEST, STREAM

READ_ONLY = {"readOnlyHint": True}


def facts(**changed: Any) -> Facts:
    tools = [
        {"name": "look", "annotations": READ_ONLY},
        {"name": "count", "annotations": READ_ONLY},
        {"name": "broken", "annotations": READ_ONLY},
        {"name": "ask_user", "annotations": READ_ONLY},
        {"name": "write"},
    ]
    works = {name: ToolCalls(works=True) for name in ("look", "ask_user", "write")}
    calls = {**works, "count": ToolCalls(works=True, progress=True), "broken": ToolCalls(error="no")}
    usual: dict[str, Any] = {
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "tools": tools,
        "resources": [{"uri": "a:1"}],
        "prompts": [{"name": "plain"}, {"name": "needs", "arguments": [{"name": "x", "required": True}]}],
        "calls": calls,
    }
    return Facts("r", **{**usual, **changed})


def names(text: str, **changed: Any) -> list[str]:
    return [each.name for each in traffic_of(facts(**changed), parse_scenario(text)).operations]


def test_agent_calls_tools_that_only_read_and_work() -> None:
    assert names("agent") == [
        *("calls look", "calls count", "reads a:1", "tools/list", "resources/list", "prompts/list"),
        "prompts plain",
    ]


def test_other_tools_are_called_with_permission() -> None:
    assert "calls write" not in names("calls")
    assert "calls write" in names("calls", permission=Permission.EFFECTS)


def test_streams_use_a_tool_that_reports_progress() -> None:
    [operation] = traffic_of(facts(), parse_scenario("streams")).operations
    assert operation.name == "streams count"
    assert operation.is_stream


def test_named_tool_is_called_alone() -> None:
    traffic = traffic_of(facts(), parse_scenario("calls"), ["broken"])
    assert [each.name for each in traffic.operations] == ["calls broken"]


def test_what_is_missing_is_named_and_nothing_at_all_is_refused() -> None:
    traffic = traffic_of(facts(resources=[]), parse_scenario("agent"))
    assert traffic.remarks == ["no reads: the server lists no resource"]
    with pytest.raises(InvalidOptions, match="nothing to send"):
        traffic_of(facts(tools=[]), parse_scenario("calls"))


def test_cycle_has_the_weights_of_a_mix_and_every_operation() -> None:
    cycle = cycle_of(traffic_of(facts(), parse_scenario("calls=3,lists=1")).operations)
    kinds = Counter(each.kind for each in cycle)
    assert kinds["calls"] == 3 * kinds["lists"]
    assert {each.name for each in cycle} == {*names("calls"), *names("lists")}


@pytest.mark.parametrize("text", ["", "everything", "calls=0", "calls=x", "sleeps=1", "sessions=1,calls=1"])
def test_unknown_scenario_is_refused(text: str) -> None:
    with pytest.raises(InvalidOptions):
        parse_scenario(text)


def test_id_is_the_only_difference_between_two_messages() -> None:
    encoded = encode(STREAM, HANDSHAKE)
    message = message_bytes(encoded, 10**9)
    assert message.count(b"1000000000") == 2
    assert len(message) == encoded.size


def test_every_request_describes_itself_where_there_is_no_handshake() -> None:
    encoded = encode(STREAM, PER_REQUEST)
    assert encoded.headers["Mcp-Method"] == "tools/call"
    assert PER_REQUEST.date.encode() in message_bytes(encoded, 10**9)
