"""The tools, arguments and resources that a scenario selects."""

from typing import Any

from assay.lab.harness.driver.choice import ASKING, CHANGING, argument_sets, matching_tools, uris_of
from assay.lab.harness.subject.facts import Facts
from assay.revisions.registry import REVISIONS

DATE = REVISIONS[-1].date


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
    first, second = argument_sets(tool("edit", inputSchema=schema))
    assert first["mode"] == second["mode"] == "fast" and first["text"] != second["text"]
    assert argument_sets(tool("load", inputSchema={"type": "object"})) == [{}]
    assert argument_sets(tool("odd", inputSchema=None)) == [{}]
