"""Which tools, arguments and resources a scenario picks."""

from typing import Any

from assay.lab.harness.driver.choice import ASKING, CHANGING, argument_sets, tools_that, uris_of
from assay.lab.harness.subject.facts import Facts
from assay.revisions.registry import REVISIONS

DATE = REVISIONS[-1].date


def tool(name: Any, description: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name, "description": description, **more}


def test_tools_are_chosen_by_whole_words_of_name_and_description() -> None:
    tools = [tool("ask_user"), tool("long_task"), tool("other", "Asks the client's model"), tool(7, "asks")]
    chosen = tools_that(ASKING, Facts(DATE, tools=tools))
    assert [one["name"] for one in chosen] == ["ask_user", "other"]


def test_tools_that_destroy_are_left_alone() -> None:
    tools = [tool("editNote"), tool("update_all", annotations={"destructiveHint": True})]
    assert [one["name"] for one in tools_that(CHANGING, Facts(DATE, tools=tools))] == ["editNote"]


def test_uris_are_those_that_are_text() -> None:
    assert uris_of(Facts(DATE, resources=[{"uri": "a:1"}, {"uri": 2}, {}])) == ["a:1"]


def test_argument_sets_differ_where_a_text_is_open() -> None:
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "mode": {"type": "string", "enum": ["fast"]}},
        "required": ["text", "mode"],
    }
    first, second = argument_sets(tool("edit", inputSchema=schema))
    assert first["mode"] == second["mode"] == "fast" and first["text"] != second["text"]
    assert argument_sets(tool("load", inputSchema={"type": "object"})) == [{}]
    assert argument_sets(tool("odd", inputSchema=None)) == [{}]
