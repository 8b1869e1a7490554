"""The first calls of a server: which arguments work, which tools are slow, and what the run says about it."""

import json
from pathlib import Path
from typing import Any

import pytest

from assay.lab import JudgeOptions, find_arguments, judge, render
from assay.lab.error import InvalidOptions
from assay.lab.harness.driver.pending import Reply
from assay.lab.harness.subject.facts import Facts, Permission
from assay.lab.harness.subject.first_calls import error_of
from assay.lab.target import Command
from tests.driving.warm_python import warm_python
from tests.lab.traces import stdio_trace

pytestmark = pytest.mark.waits

# `crawl` never answers, `steps` reports progress, and each line that comes is logged in a file.
SERVER = """
import json, sys, threading
log = open(sys.argv[1], "a", buffering=1)
NO = {"type": "object"}
def needs(name): return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
TOOLS = [{"name": "list_users", "inputSchema": NO}, {"name": "get_user", "inputSchema": needs("user_id")},
         {"name": "crawl", "inputSchema": NO}, {"name": "steps", "inputSchema": NO},
         {"name": "login", "inputSchema": needs("secret")},
         {"name": "wipe", "inputSchema": NO, "annotations": {"destructiveHint": True}}]
TOOLS = [tool for tool in TOOLS if tool["name"] not in sys.argv[2:]]
def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def text(words, **more): return {"content": [{"type": "text", "text": words}], **more}
def call(name, arguments, message):
    if name == "list_users": return text('[{"id": "u-17"}]')
    if name == "get_user" and arguments == {"user_id": "u-17"}: return text("Ann")
    if name == "wipe": return text("gone")
    if name == "steps":
        token = message["params"].get("_meta", {}).get("progressToken")
        for number in range(9):
            threading.Event().wait(PATIENCE / 6)
            params = {"progressToken": token, "progress": number + 1}
            if token: send(method="notifications/progress", params=params)
        return text("done")
    return text(f"{name} refuses {arguments}", isError=True)
for line in sys.stdin:
    log.write(line)
    message = json.loads(line)
    method = message.get("method")
    if "id" not in message or method is None: continue
    params = message.get("params") or {}
    if method == "initialize":
        send(id=message["id"], result={"protocolVersion": params["protocolVersion"],
             "capabilities": {"tools": {}}, "serverInfo": {"name": "users", "version": "1"}})
    elif method == "tools/list": send(id=message["id"], result={"tools": TOOLS})
    elif method == "tools/call" and params["name"] != "crawl":
        send(id=message["id"], result=call(params["name"], params["arguments"], message))
    elif method == "ping": send(id=message["id"], result={})
    elif method != "tools/call": send(id=message["id"], error={"code": -32601, "message": "no"})
"""
# Long enough for a process to start on a busy machine: few tests use a tool that takes longer.
PATIENCE = 2.5
QUICK: dict[str, Any] = {"timeout": PATIENCE, "spec_version": ("2025-06-18",)}


def server(
    tmp_path: Path, without: tuple[str, ...] = ("crawl", "steps"), *, patience: float = PATIENCE
) -> Command:
    path = tmp_path / "server.py"
    path.write_text(SERVER.replace("PATIENCE", str(patience)), "utf-8")
    return Command((warm_python(), str(path), str(tmp_path / "log"), *without))


def calls_of(tmp_path: Path) -> list[Any]:
    lines = (tmp_path / "log").read_text("utf-8").splitlines()
    return [message["params"] for message in map(json.loads, lines) if message.get("method") == "tools/call"]


async def test_tools_without_hints_are_only_called_when_allowed(tmp_path: Path) -> None:
    options = JudgeOptions(scenario=("tools-read-only-calls",), **QUICK)
    run = await judge(server(tmp_path), options)
    assert calls_of(tmp_path) == []
    lines = [line for line in render(run, "text").splitlines() if line.startswith("not called: 3 of 4 tools")]
    assert len(lines) == 1
    assert "unjudged" in lines[0] and lines[0].endswith("1 scenario: add --allow-effects")


async def test_arguments_come_from_earlier_results_and_slow_tools_are_called_once(tmp_path: Path) -> None:
    options = JudgeOptions(
        scenario=("tools-read-only-calls", "utilities-working"), allow_effects=True, **QUICK
    )
    run = await judge(server(tmp_path, without=("steps",)), options)
    calls = calls_of(tmp_path)
    facts = run.subjects[0].facts[0]
    assert facts.calls["get_user"].arguments == [{"user_id": "u-17"}]
    assert [call["name"] for call in calls].count("crawl") == 1
    assert "wipe" not in [call["name"] for call in calls]
    assert '"notifications/cancelled"' in (tmp_path / "log").read_text("utf-8")
    text = render(run, "text")
    assert "crawl: no answer within 2.5 s" in text and "--timeout 60" in text
    assert "never succeeded: login: login refuses" in text
    assert "not called: 1 of 5 tools, which say that they may destroy (wipe)" in text
    for form in ("html", "markdown"):
        assert "never succeeded: login" in render(run, form)


async def test_progress_extends_the_wait_and_the_tool_counts_as_slow(tmp_path: Path) -> None:
    learnt = await find_arguments(
        server(tmp_path, without=("crawl",)), JudgeOptions(allow_effects=True, **QUICK)
    )
    assert any("(steps: " in remark for remark in learnt.remarks), "it was answered after the patience"
    assert not any("steps: no answer" in remark for remark in learnt.remarks)


async def test_tool_that_reported_progress_is_not_called_again_to_see_what_others_added(
    tmp_path: Path,
) -> None:
    options = JudgeOptions(allow_effects=True, **QUICK)
    learnt = await find_arguments(server(tmp_path, without=("crawl",), patience=0.01), options)
    names = [call["name"] for call in calls_of(tmp_path)]
    assert learnt.tools["steps"] == [{}] and names.count("steps") == 1
    assert names.count("list_users") == 2, "a list is read again, because a call failed"


async def test_cancellation_is_tried_on_the_slowest_call(tmp_path: Path) -> None:
    options = JudgeOptions(scenario=("utilities-cancelled-work",), allow_effects=True, **QUICK)
    await judge(server(tmp_path, without=("steps",)), options)
    assert [call["name"] for call in calls_of(tmp_path)].count("crawl") == 2
    assert (tmp_path / "log").read_text("utf-8").count('"no answer in time"') == 1


async def test_destructive_tools_are_called_last_when_allowed(tmp_path: Path) -> None:
    await find_arguments(server(tmp_path), JudgeOptions(allow_destructive=True, **QUICK))
    assert [call["name"] for call in calls_of(tmp_path)].index("wipe") > 2


async def test_arguments_of_the_user_are_all_used_and_unknown_tools_named(tmp_path: Path) -> None:
    path = tmp_path / "arguments.json"
    sets = {"get_user": [{"user_id": "u-17"}, {"user_id": "u-99"}], "greet": [{}]}
    path.write_text(json.dumps({"tools": sets}), "utf-8")
    learnt = await find_arguments(server(tmp_path), JudgeOptions(arguments=path, allow_effects=True, **QUICK))
    assert learnt.tools["get_user"] == [{"user_id": "u-17"}]
    assert {"user_id": "u-99"} in [call["arguments"] for call in calls_of(tmp_path)]
    assert any("does not list: greet" in remark for remark in learnt.remarks)
    assert set(learnt.tools) == {"list_users", "get_user", "login", "wipe"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not an object"),
        ('{"tools": {}, "prompts": {}}', "not an object with `tools` alone"),
        ('{"tools": []}', "not an object"),
        ('{"tools": {"a": {}}}', "a: not a list of objects"),
        ('{"tools": {"a": [7]}}', "a: not a list of objects"),
        ('{"tools": {"a": [' + ",".join(["{}"] * 21) + "]}}", "21 sets"),
        (" " * (1024 * 1024 + 1), "larger than"),
    ],
)
async def test_other_files_are_refused(content: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "arguments.json"
    path.write_text(content, "utf-8")
    with pytest.raises(InvalidOptions, match=words):
        await judge("reference", JudgeOptions(arguments=path))


async def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidOptions, match="cannot read"):
        await judge("reference", JudgeOptions(arguments=tmp_path / "none.json"))


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (
            {"content": [{"type": "text", "text": "Error: no such table"}]},
            "Error: no such table (without `isError`)",
        ),
        (
            {"content": [{"type": "text", "text": "Database error: locked"}], "isError": True},
            "Database error: locked",
        ),
        ({"content": [{"type": "text", "text": "Errors today: none"}]}, ""),
        ({"content": [{"type": "text", "text": "error"}], "structuredContent": {"level": "error"}}, ""),
        ({"isError": True}, "a result with `isError` and no text"),
        ({"content": 7}, ""),
    ],
)
def test_error_of_a_result(result: dict[str, Any], error: str) -> None:
    trace = stdio_trace(("<", {"jsonrpc": "2.0", "id": 1, "result": result}))
    assert error_of(Reply(trace.received[0])) == error


def test_tools_that_only_read_come_first_and_those_that_destroy_last() -> None:
    tools = [
        {"name": "wipe", "annotations": {"destructiveHint": True}},
        {"name": "plain"},
        {"name": "look", "annotations": {"readOnlyHint": True}},
        {"name": 7},
    ]
    names = {
        permission: [tool["name"] for tool in Facts("any", tools=tools, permission=permission).callable_tools]
        for permission in Permission
    }
    assert names == {
        Permission.READ_ONLY: ["look"],
        Permission.EFFECTS: ["look", "plain"],
        Permission.DESTRUCTIVE: ["look", "plain", "wipe"],
    }
