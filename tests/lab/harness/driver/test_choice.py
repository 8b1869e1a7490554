"""Selection of tools and of safe requests."""

from typing import Any

from assay.lab.harness.driver.choice import (
    A_SAFE_REQUEST,
    ASKING,
    CHANGING,
    OTHERS,
    TOOLS,
    SafeRequest,
    argument_sets,
    calls_that_log,
    matching_tools,
    safe_requests_for,
    uris_of,
)
from assay.lab.harness.subject.facts import Facts, ToolCalls
from assay.revisions.registry import REVISIONS

DATE = REVISIONS[-1].date
READ = {"readOnlyHint": True}
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "x-mcp-header": "City"}},
    "required": ["city"],
}


def tool(name: Any, description: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name, "description": description, **more}


def test_tools_are_chosen_by_whole_words_of_name_and_description() -> None:
    tools = [tool("ask_user"), tool("long_task"), tool("other", "Asks the client's model"), tool(7, "asks")]
    chosen = matching_tools(ASKING, Facts(DATE, tools=tools))
    assert [each["name"] for each in chosen] == ["ask_user", "other"]


def test_destructive_tools_are_not_chosen() -> None:
    tools = [tool("editNote"), tool("update_all", annotations={"destructiveHint": True})]
    chosen = matching_tools(CHANGING, Facts(DATE, tools=tools))
    assert [each["name"] for each in chosen] == ["editNote"]


def test_only_uris_that_are_strings_are_chosen() -> None:
    assert uris_of(Facts(DATE, resources=[{"uri": "a:1"}, {"uri": 2}, {}])) == ["a:1"]


def test_argument_sets_differ_in_unconstrained_strings() -> None:
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "mode": {"type": "string", "enum": ["fast"]}},
        "required": ["text", "mode"],
    }
    first, second = argument_sets(tool("edit", inputSchema=schema), Facts(DATE))
    assert first["mode"] == second["mode"] == "fast" and first["text"] != second["text"]
    assert argument_sets(tool("load", inputSchema={"type": "object"}), Facts(DATE)) == [{}]
    assert argument_sets(tool("odd", inputSchema=None), Facts(DATE)) == [{}]


def test_only_read_only_tools_resources_and_prompts_without_required_arguments() -> None:
    facts = Facts(
        "any",
        tools=[{"name": "look", "annotations": READ, "inputSchema": SCHEMA}, {"name": "delete"}],
        resources=[{"uri": "a:b"}, {"uri": 3}],
        prompts=[
            {"name": "plain"},
            {"name": "open", "arguments": [{"name": "a"}, 7]},
            {"name": "strict", "arguments": [{"name": "a", "required": True}]},
        ],
    )
    assert safe_requests_for(facts) == [
        SafeRequest(
            "tools/call", {"name": "look", "arguments": {"city": "London"}}, {"Mcp-Param-City": "London"}
        ),
        SafeRequest("resources/read", {"uri": "a:b"}),
        SafeRequest("prompts/get", {"name": "plain"}),
        SafeRequest("prompts/get", {"name": "open"}),
    ]


def test_a_server_with_thousands_of_items_gets_few_requests() -> None:
    tools = [{"name": str(number), "annotations": READ} for number in range(100)]
    resources = [{"uri": f"a:{number}"} for number in range(100)]
    assert len(safe_requests_for(Facts("any", tools=tools, resources=resources))) == TOOLS + OTHERS


def test_tools_that_need_fewer_arguments_come_first() -> None:
    tools = [
        {"name": "search", "annotations": READ, "inputSchema": SCHEMA},
        {"name": "status", "annotations": READ},
    ]
    assert [request.params["name"] for request in safe_requests_for(Facts("any", tools=tools))] == [
        "status",
        "search",
    ]


def test_a_server_without_harmless_items_does_not_meet_the_need() -> None:
    assert not A_SAFE_REQUEST.met(Facts("any", tools=[{"name": "delete"}]))
    assert A_SAFE_REQUEST.met(Facts("any", resources=[{"uri": "a:b"}]))


def test_calls_that_log_are_those_that_did() -> None:
    tools = [
        tool("log_all", annotations=READ),
        tool("quiet", annotations=READ),
        tool("slow", annotations=READ),
    ]
    calls = {
        "log_all": ToolCalls(works=True, seconds=0.1),
        "quiet": ToolCalls(works=True, seconds=0.2, logs=True),
        "slow": ToolCalls(works=True, slow=True, logs=True),
    }
    chosen = calls_that_log(Facts(DATE, tools=tools, calls=calls))
    assert [each.params["name"] for each in chosen] == ["quiet"]


def test_before_any_call_tools_that_speak_of_logs_are_expected_to_log() -> None:
    tools = [
        tool("logEach", annotations=READ),
        tool("login", annotations=READ),
        tool("a", "Logs it", annotations=READ),
    ]
    chosen = calls_that_log(Facts(DATE, tools=tools))
    assert [each.params["name"] for each in chosen] == ["logEach", "a"]
