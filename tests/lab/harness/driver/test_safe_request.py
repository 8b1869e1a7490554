"""Safe requests use only what a server declares as harmless."""

from assay.lab.harness.driver.safe_request import (
    A_SAFE_REQUEST,
    OTHERS,
    TOOLS,
    SafeRequest,
    safe_requests_for,
)
from assay.lab.harness.subject.facts import Facts

READ = {"readOnlyHint": True}
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "x-mcp-header": "City"}},
    "required": ["city"],
}


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
            "tools/call", {"name": "look", "arguments": {"city": "assay"}}, {"Mcp-Param-City": "assay"}
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
