"""Arguments that are likely to work: from schemas, descriptions, names and earlier results."""

from typing import Any

import pytest

from assay.lab.harness.driver.argument import arguments_for, candidates, prompt_arguments
from assay.lab.harness.driver.known_values import LONGEST, MOST_NAMES, KnownValues
from assay.lab.harness.driver.plausible import mentioned


def tool(description: str = "", **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": "t", "description": description, "inputSchema": schema}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "examples": ["a", "b"], "default": "c"}, "a"),
        ({"type": "string", "default": "c", "enum": ["d", "c"]}, "c"),
        ({"type": "string", "enum": ["d", "e"]}, "d"),
        ({"type": "string", "format": "email"}, "lab@assay.example"),
        ({"type": "string", "format": "date"}, "2024-03-01"),
        ({"type": "string", "description": "a fruit, e.g. 'plum'"}, "plum"),
        ({"type": "string", "description": "one of: small, large"}, "small"),
        ({"type": "string", "default": None, "description": "such as Oslo."}, "Oslo"),
        ({"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 4}]}, 4),
        ({"type": ["null", "boolean"]}, False),
        ({"type": "integer", "multipleOf": 5, "minimum": 7}, 10),
        ({"type": "number", "exclusiveMaximum": 0}, -1),
        ({"$ref": "#/$defs/missing"}, None),
    ],
)
def test_value_of_an_argument(schema: dict[str, Any], value: Any) -> None:
    assert arguments_for(tool(x=schema)) == {"x": value}


def test_local_references_are_followed_and_circles_end() -> None:
    definition = tool(x={"$ref": "#/$defs/size"}, y={"$ref": "#/$defs/loop"})
    definition["inputSchema"]["$defs"] = {"size": {"enum": ["big"]}, "loop": {"$ref": "#/$defs/loop"}}
    assert arguments_for(definition)["x"] == "big"


def test_no_two_arguments_get_the_same_made_up_word() -> None:
    text = {"type": "string"}
    values = arguments_for(tool(alpha=text, beta=text, url=text, city=text, email=text, user_id=text))
    assert len(set(values.values())) == len(values)
    values = prompt_arguments({"arguments": [{"name": name, "required": True} for name in ("alpha", "beta")]})
    assert len(set(values.values())) == 2


def test_docstring_of_a_tool_describes_its_arguments() -> None:
    definition = tool("Weather.\n\nArgs:\n    town (str): where, e.g. Turin\n", town={"type": "string"})
    assert arguments_for(definition) == {"town": "Turin"}


def test_examples_of_whole_argument_sets_come_first_and_optional_arguments_are_tried() -> None:
    definition = tool(x={"type": "string"})
    schema = definition["inputSchema"]
    schema["properties"]["mode"] = {"enum": ["fast"]}
    schema["examples"] = [{"x": "whole"}, "not a set"]
    sets = candidates(definition)
    assert sets[0] == {"x": "whole"}
    assert any(arguments.get("mode") == "fast" for arguments in sets)


@pytest.mark.parametrize(
    "result",
    [
        {"structuredContent": {"users": [{"id": "u-7"}]}},
        {"content": [{"type": "text", "text": '[{"id": "u-7"}]'}]},
        {"content": [{"type": "text", "text": "Users:\n- id: u-7\n"}]},
    ],
)
def test_an_id_of_an_earlier_result_is_used(result: dict[str, Any]) -> None:
    known = KnownValues()
    known.learn(result, "list_users")
    assert candidates(tool(userId={"type": "string"}), known)[0] == {"userId": "u-7"}


def test_paths_in_a_text_are_used_for_paths() -> None:
    known = KnownValues()
    known.learn({"content": [{"type": "text", "text": "Allowed directories:\n/srv/data\n"}]}, "allowed")
    assert candidates(tool(path={"type": "string"}), known)[0] == {"path": "/srv/data"}


def test_what_is_kept_of_results_is_bounded() -> None:
    known = KnownValues()
    known.learn({"structuredContent": {f"field{number}": number for number in range(99)}}, "a")
    for number in range(2 * MOST_NAMES):
        known.add(f"more{number}", number)
    known.add("id", "x" * (LONGEST + 1))
    known.add("id", "bad\x00value")
    deep: Any = "end"
    for _ in range(200):
        deep = {"id": deep}
    known.learn({"structuredContent": deep, "content": [7, {"text": 7}, {"text": "[" * 100_000}]})
    assert known.fitting("id", str) == []
    assert len(known._values) <= MOST_NAMES


@pytest.mark.parametrize("text", [None, 7, "", "e.g.", "e.g. ", "one of", "like ", "(e.g. `", "x" * 100_000])
def test_odd_descriptions_mention_nothing(text: Any) -> None:
    assert mentioned(text) in ([], [""])


def test_id_in_a_tool_about_users_is_that_of_a_user() -> None:
    known = KnownValues()
    known.learn({"structuredContent": {"orders": [{"id": "o-1"}]}}, "list_orders")
    known.learn({"structuredContent": {"users": [{"id": "u-1"}, {"id": "u-2"}]}}, "list_users")
    by_id = tool(id={"type": "string"})
    assert candidates({**by_id, "name": "get_user"}, known)[0] == {"id": "u-1"}
    assert candidates({**by_id, "name": "get_order"}, known)[0] == {"id": "o-1"}


def test_tool_that_removes_gets_the_value_that_others_use_last() -> None:
    known = KnownValues()
    known.learn({"structuredContent": {"users": [{"id": "u-1"}, {"id": "u-2"}]}}, "list_users")
    by_id = tool(user_id={"type": "string"})
    assert candidates({**by_id, "name": "get_user"}, known)[0] == {"user_id": "u-1"}
    assert candidates({**by_id, "name": "delete_user"}, known)[0] == {"user_id": "u-2"}


LISTING = {"content": [{"type": "text", "text": "[DIR] old\n[FILE] notes.txt"}]}


@pytest.mark.parametrize(
    ("name", "path"),
    [("read_file", "/srv/data/notes.txt"), ("list_directory", "/srv/data"), ("write_file", "/srv/data")],
)
def test_files_of_a_folder_are_read_and_not_written(name: str, path: str) -> None:
    known = KnownValues()
    known.add("path", "/srv/data")
    known.learn(LISTING, "list_directory", {"path": "/srv/data"})
    assert candidates({**tool(path={"type": "string"}), "name": name}, known)[0] == {"path": path}


@pytest.mark.parametrize(
    ("description", "statement"),
    [
        ("SELECT SQL query to execute", "SELECT 1"),
        ("CREATE TABLE SQL statement", "CREATE TABLE IF NOT EXISTS assay_sample (id INTEGER)"),
        ("SQL query (INSERT, UPDATE or DELETE)", "INSERT INTO assay_sample (id) VALUES (1)"),
        ("The SQL to run", "SELECT 1"),
    ],
)
def test_statement_is_of_the_kind_that_a_description_mentions(description: str, statement: str) -> None:
    part = {"type": "string", "description": description}
    assert arguments_for(tool(query=part)) == {"query": statement}


def test_statement_is_of_the_kind_that_the_tool_is_for() -> None:
    definition = tool("Execute an INSERT or UPDATE", query={"type": "string", "description": "SQL to run"})
    assert arguments_for(definition)["query"].startswith("INSERT INTO assay_sample")


def test_fields_in_the_notation_of_python_are_used() -> None:
    known = KnownValues()
    known.learn({"content": [{"type": "text", "text": "[{'name': 'films', 'rows': 7}]"}]}, "list_tables")
    assert candidates(tool(table_name={"type": "string"}), known)[0] == {"table_name": "films"}
