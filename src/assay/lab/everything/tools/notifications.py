"""Progress and log messages while a tool runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.evidence import answered, borrow
from assay.lab.everything.fixture import fixture_tool, tool_of
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe, on_reply
from assay.lab.harness.driver.server_stream import open_server_stream
from assay.lab.harness.need import declares
from assay.lab.harness.trace.log_level import severity
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import NOT_RECEIVED, Exchange
from assay.lab.suite.event_stream import PROGRESS, token_of
from assay.lab.suite.utilities import progress

ENOUGH: Final = 3
Belongs = Callable[[Message, Exchange], bool]


def tells_enough(
    trace: Trace, row: str, tool: str, method: str, belongs: Belongs, what: Callable[[Exchange], str]
) -> Iterator[Observation]:
    """Notifications of a call that belong to it: too few are held against it only if they were waited for."""
    waited = any(mark.info.get("method") == method for mark in trace.marks(NOT_RECEIVED))
    for exchange in answered(trace, "tools/call", name=tool):
        told = [one for one in trace.received if one.method == method and belongs(one, exchange)]
        if exchange.result is None:
            yield observe(row, False, exchange, expected="a result", observed=exchange)
        elif len(told) >= ENOUGH or waited:
            yield observe(
                row,
                len(told) >= ENOUGH,
                exchange,
                *told,
                expected=f"at least {ENOUGH} {what(exchange)}",
                observed=f"{len(told)} of them",
            )


# --- what is asked


TOOL = "test_tool_with_logging"
MESSAGES = 3


@official_scenario(
    "tools-call-with-logging", "A tool logs while it works", needs=(declares("logging"), fixture_tool(TOOL))
)
async def drive_tools_call_with_logging(stage: Stage) -> None:
    peer = await stage.open()
    await open_server_stream(stage, peer)
    await peer.request("logging/setLevel", {"level": "debug"})
    reply = await peer.call(tool_of(stage.facts, TOOL), {})
    for _ in range(MESSAGES if reply.is_result else 0):
        if await peer.wait_for("notifications/message") is None:
            break


TOOLS_CALL_WITH_PROGRESS_TOOL, TOKEN = "test_tool_with_progress", "progress-test-1"
STEPS = 3


@official_scenario(
    "tools-call-with-progress",
    "A tool reports its progress",
    needs=(fixture_tool(TOOLS_CALL_WITH_PROGRESS_TOOL),),
)
async def drive_tools_call_with_progress(stage: Stage) -> None:
    peer = await stage.open()
    await open_server_stream(stage, peer)
    params = {"name": TOOLS_CALL_WITH_PROGRESS_TOOL, "arguments": {}, "_meta": {"progressToken": TOKEN}}
    reply = await peer.request("tools/call", params)
    for _ in range(STEPS if reply.is_result else 0):
        if await peer.wait_for("notifications/progress", progressToken=TOKEN) is None:
            break


LOGGED = "notifications/message"


@official_check("tools-call-with-logging", "A tool logs while it works")
def judge_tools_call_with_logging(trace: Trace) -> Iterator[Observation]:
    return tells_enough(
        trace, "tools-call-with-logging", "test_tool_with_logging", LOGGED, _belongs, _expected
    )


def _expected(exchange: Exchange) -> str:
    return "log messages with a level and data"


def _belongs(message: Message, exchange: Exchange) -> bool:
    asked, said = exchange.request.frame, message.frame
    during = said.connection == asked.connection and said.n > asked.n
    return during and severity(message.params.get("level")) is not None and "data" in message.params


@official_check("tools-call-with-progress", "A tool reports its progress")
def judge_tools_call_with_progress(trace: Trace) -> Iterator[Observation]:
    yield from tells_enough(
        trace,
        "tools-call-with-progress",
        "test_tool_with_progress",
        PROGRESS,
        _tools_call_with_progress_belongs,
        _tools_call_with_progress_expected,
    )
    yield from borrow(trace, "tools-call-with-progress", progress.judge_progress_values, "PRG-03")
    yield from borrow(trace, "tools-call-with-progress", progress.judge_progress_tokens, "PRG-04", "PRG-05")


def _tools_call_with_progress_expected(exchange: Exchange) -> str:
    return f"reports under the token {token_of(exchange.request)!r}"


def _tools_call_with_progress_belongs(message: Message, exchange: Exchange) -> bool:
    here = message.frame.connection == exchange.request.frame.connection
    return here and same_id(message.params.get("progressToken"), token_of(exchange.request))


# --- what the checks must catch


@on_reply("a tool logs once only", breaks="tools-call-with-logging", silent=True)
def logs_once(reply: Json, context: FaultContext) -> Json | None:
    if reply.get("method") != "notifications/message":
        return reply
    return None if context.memory.setdefault("logged", reply) is not reply else reply


@on_reply("progress comes after the answer", breaks="tools-call-with-progress")
def progress_after_answer(reply: Json, context: FaultContext) -> list[Json]:
    token = context.meta.get("progressToken")
    if context.method != "tools/call" or token is None:
        return [reply]
    params = {"progressToken": token, "progress": 1000}
    return [reply, {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}]


@on_reply("progress goes back", breaks="tools-call-with-progress")
def progress_back(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["progress"] = 100 - reply["params"]["progress"]
    return reply


@on_reply("progress comes under another token", breaks="tools-call-with-progress", silent=True)
def progress_of_another(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["progressToken"] = "progress-of-the-server"
    return reply


@on_reply("progress repeats its value", breaks="tools-call-with-progress")
def progress_stands_still(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["progress"] = 1
    return reply
