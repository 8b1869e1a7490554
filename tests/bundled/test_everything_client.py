"""The everything client, as conformance suites start it."""

from __future__ import annotations

import json
import socket
from functools import partial
from typing import Any

import pytest

from assay import Client, ClientError, ElicitationRequest, Stdio
from assay.bundled.everything import server as everything
from assay.bundled.everything_client.__main__ import main
from assay.bundled.everything_client.form import fill
from assay.bundled.everything_client.scenario import SCENARIOS, scenario_named
from assay.bundled.everything_client.step import STEPS, StepFailed, take_steps
from assay.bundled.everything_client.task import BadTask, Task, read_task
from assay.lab.selection import client_suite

SCENARIO, CONTEXT = "MCP_CONFORMANCE_SCENARIO", "MCP_CONFORMANCE_CONTEXT"
URL = "http://127.0.0.1:9/mcp"


def closed_port() -> str:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"


async def play(*steps: dict[str, Any], **context: Any) -> None:
    task = Task("memory", "steps", {"steps": steps, **context})
    await take_steps(partial(Client, everything), task)


@pytest.mark.parametrize("arguments", [[], [URL, URL], [""], ["--help"]])
def test_other_arguments_than_a_server_are_wrong_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert "everything_client URL" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("{", "MCP_CONFORMANCE_CONTEXT is not JSON"),
        ("[]", "MCP_CONFORMANCE_CONTEXT is not a JSON object"),
        ('{"steps": [], "oauth": {"grant": "magic"}}', "unknown grant 'magic'"),
        ("{}", "has no 'steps', which the scenario unknown needs"),
    ],
)
def test_input_that_cannot_be_used_is_wrong_usage(
    context: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(SCENARIO, "unknown")
    monkeypatch.setenv(CONTEXT, context)
    assert main([URL]) == 2
    assert message in capsys.readouterr().err


def test_without_a_suite_the_error_says_how_to_start_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([URL]) == 2
    assert "try assay check --client -- python -m assay.bundled" in capsys.readouterr().err


def test_a_failure_is_one_error_and_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(SCENARIO, "initialize")
    assert main([closed_port()]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ConnectionFailed: ")
    assert "Traceback" not in error


def test_a_command_line_is_a_server_on_stdio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CONTEXT, raising=False)
    target = read_task(["python -m 'my server' --at http://localhost"]).target
    assert isinstance(target, Stdio)
    assert target.command == ("python", "-m", "my server", "--at", "http://localhost")
    assert read_task(["ws://localhost/mcp"]).target == "ws://localhost/mcp"


async def test_the_steps_of_the_lab_are_taken() -> None:
    ref = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    call = {"do": "call_tool", "name": "test_simple_text", "arguments": {}}
    await play(
        {"do": "list_tools"},
        call,
        {"do": "list_resources"},
        {"do": "list_templates"},
        {"do": "read_resource", "uri": "test://static-text"},
        {"do": "list_prompts"},
        {"do": "get_prompt", "name": "test_simple_prompt"},
        {"do": "complete", "ref": ref, "argument": {"name": "arg1", "value": "t"}},
        {"do": "ping"},
        {"do": "together", "steps": [call, call]},
        {"do": "context_calls"},
        {"do": "echo_schema", "of": "json_schema_2020_12_tool", "with": "test_simple_text"},
        {"do": "call_tool", "name": "no such tool", "may_fail": True},
        toolCalls=[{"name": "test_simple_text", "arguments": {}}],
    )


async def test_changes_are_waited_for() -> None:
    changed = {"do": "call_tool", "name": "test_trigger_tool_change", "arguments": {}}
    await play(
        {"do": "set_level", "level": "error"},
        {"do": "listen", "notifications": {"toolsListChanged": True}},
        changed,
        {"do": "relist_on_change", "seconds": 5},
        {"do": "subscribe", "uri": "test://watched-resource"},
        {"do": "unsubscribe", "uri": "test://watched-resource"},
        changed,
        {"do": "wait_for", "notification": "notifications/tools/list_changed", "seconds": 5},
    )


def test_every_official_scenario_and_every_step_of_the_lab_is_known() -> None:
    suite = client_suite("official").scenarios.values()
    names = {scenario.official for scenario in suite}
    assert SCENARIOS.keys() <= names
    assert all(name is not None and scenario_named(name) for name in names)
    scripts = [scenario.script for scenario in client_suite("all").scenarios.values() if scenario.script]
    assert {step["do"] for script in scripts for step in script.steps} <= STEPS.keys()


@pytest.mark.parametrize(
    ("step", "failure"),
    [
        ({"do": "call_tool", "name": "no such tool"}, ClientError),
        ({"do": "echo_schema", "of": "no such tool", "with": "test_simple_text"}, StepFailed),
        ({"do": "no such tool"}, BadTask),
        ({"do": "wait_for", "notification": "no such tool", "seconds": 1}, BadTask),
    ],
)
async def test_a_step_that_fails_ends_the_scenario(step: dict[str, Any], failure: type[Exception]) -> None:
    with pytest.raises(failure, match="no such tool"):
        await play(step)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ({"type": "string", "default": "John Doe"}, "John Doe"),
        ({"type": "string", "enum": ["a", "b"]}, "a"),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, "a"),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, ["a"]),
        ({"type": "boolean"}, True),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "number", "maximum": -2.5}, -2.5),
        ({"type": "string", "minLength": 6}, "textxx"),
        ({"type": "string", "maxLength": 2}, "te"),
        ({"type": "string", "format": "email"}, "ada@example.org"),
    ],
)
def test_a_form_gets_a_value_that_its_schema_allows(field: dict[str, Any], value: Any) -> None:
    request = ElicitationRequest(message="?", requested_schema={"properties": {"field": field}})
    assert json.dumps(fill(request)) == json.dumps({"field": value})
