"""Completion and log levels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    edited_results,
    observe,
    on_reply,
    on_request,
    on_result,
)
from assay.lab.harness.driver.stage import open_server_stream
from assay.lab.harness.need import declares
from assay.lab.harness.sabotage.saboteur import params_of
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import answered
from assay.lab.suite.utilities import log_messages
from assay.lab.suite.utilities.completion import MAX_VALUES

from .declaration import official_check, official_scenario
from .evidence import borrow
from .fixture import fixture_prompt

# --- what is asked


PROMPT = "test_prompt_with_arguments"


@official_scenario(
    "completion-complete",
    "Complete an argument of a prompt",
    needs=(declares("completions"), fixture_prompt(PROMPT)),
)
async def drive_completion_complete(stage: Stage) -> None:
    peer = await stage.open()
    ref = {"type": "ref/prompt", "name": PROMPT}
    for typed in ("test", ""):
        params = {"ref": ref, "argument": {"name": "arg1", "value": typed}}
        await peer.request("completion/complete", params)


TOOL = "test_tool_with_logging"


@official_scenario("logging-set-level", "Set a log level", needs=(declares("logging"),))
async def drive_logging_set_level(stage: Stage) -> None:
    peer = await stage.open()
    await open_server_stream(stage, peer)
    logging = [tool for tool in stage.facts.tools if tool.get("name") == TOOL]
    for level in ("info", "emergency"):
        await peer.request("logging/setLevel", {"level": level})
        # The messages at the first level show what must not come at the second.
        for tool in logging:
            await peer.call(tool, {})


# --- how it is judged


@official_check("completion-complete", "A completion is a list of texts")
def judge_completion_complete(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "completion/complete"):
        problem = _problem(exchange)
        expected = f"`completion.values`, at most {MAX_VALUES} texts, counted correctly"
        yield observe("completion-complete", problem is None, exchange, expected=expected, observed=problem)


def _problem(exchange: Exchange) -> str | None:
    completion = (exchange.result or {}).get("completion")
    values = completion.get("values") if isinstance(completion, dict) else None
    if not isinstance(completion, dict) or not isinstance(values, list):
        return f"no list of values: {exchange}"
    odd = [value for value in values if not isinstance(value, str)]
    if odd or len(values) > MAX_VALUES:
        return f"the value {odd[0]!r}" if odd else f"{len(values)} values"
    return _miscounted(len(values), completion.get("total"), completion.get("hasMore"))


def _miscounted(count: int, total: Any, more: Any) -> str | None:
    """Both are optional, but must match the values."""
    if not isinstance(total, int) or isinstance(total, bool):
        return None
    if total < count or (total > count and more is False):
        return f"{count} values, of {total} in total, with hasMore {more!r}"
    return None


@official_check("logging-set-level", "No messages below the log level are sent")
def judge_logging_set_level(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "logging/setLevel"):
        yield observe(
            "logging-set-level", exchange.result == {}, exchange, expected="the result {}", observed=exchange
        )
    yield from borrow(trace, "logging-set-level", log_messages.judge_log_level, "LOG-02")


# --- what the checks must catch


@on_reply("returns a completion without its envelope", breaks="completion-complete")
def completion_bare(reply: Json, context: FaultContext) -> Json:
    if context.method == "completion/complete" and "result" in reply:
        reply["result"] = reply["result"]["completion"]
    return reply


@on_result("returns more values than the total", breaks="completion-complete", method="completion/complete")
def completion_miscounted(result: Json, context: FaultContext) -> None:
    result["completion"] |= {"values": ["one", "two"], "total": 1, "hasMore": False}


@on_reply("answers `logging/setLevel` with a result that is not empty", breaks="logging-set-level")
def level_confirmed(reply: Json, context: FaultContext) -> Json:
    if context.method == "logging/setLevel" and "result" in reply:
        reply["result"] = {"level": context.params.get("level")}
    return reply


@on_request("sends messages below the level", breaks="logging-set-level")
def level_forgotten(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "logging/setLevel":
        params_of(message)["level"] = "debug"
    return message


RESULT_EDITS: Final = edited_results(
    "completion/complete",
    (
        "utilities.completion-at-length",
        "returns 101 values",
        "completion-complete",
        "completion",
        {"values": [f"value {number}" for number in range(101)]},
    ),
)
