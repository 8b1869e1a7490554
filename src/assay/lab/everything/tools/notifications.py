"""Progress and log messages while a tool runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.evidence import borrow
from assay.lab.everything.fixture import fixture_tool, tool_of
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe, on_reply
from assay.lab.harness.driver.stage import open_server_stream
from assay.lab.harness.need import declares
from assay.lab.harness.trace.message import Message, same_id, severity
from assay.lab.harness.trace.trace import NOT_RECEIVED, Exchange
from assay.lab.suite.event_stream import PROGRESS, token_of
from assay.lab.suite.evidence import answered
from assay.lab.suite.utilities import progress

COUNT: Final = 3


def observe_notifications(
    trace: Trace,
    requirement: str,
    tool: str,
    method: str,
    belonging: Callable[[Exchange], list[Message]],
    expected: str,
) -> Iterator[Observation]:
    """Each call has enough notifications; too few count only if the driver waited for them."""
    waited = any(mark.info.get("method") == method for mark in trace.marks(NOT_RECEIVED))
    for exchange in answered(trace, "tools/call", name=tool):
        notices = belonging(exchange)
        if exchange.result is None:
            yield observe(requirement, False, exchange, expected="a result", observed=exchange)
        elif len(notices) >= COUNT or waited:
            yield observe(
                requirement,
                len(notices) >= COUNT,
                exchange,
                *notices,
                expected=f"at least {COUNT} {expected}",
                observed=f"{len(notices)} of them",
            )


# --- what is asked


LOGGING, REPORTING = "test_tool_with_logging", "test_tool_with_progress"
LOG_MESSAGE, TOKEN = "notifications/message", "progress-test-1"


@official_scenario(
    "tools-call-with-logging", "Call a tool that logs", needs=(declares("logging"), fixture_tool(LOGGING))
)
async def drive_tools_call_with_logging(stage: Stage) -> None:
    peer = await stage.open()
    await open_server_stream(stage, peer)
    await peer.request("logging/setLevel", {"level": "debug"})
    reply = await peer.call(tool_of(stage.facts, LOGGING), {})
    for _ in range(COUNT if reply.is_result else 0):
        if await peer.wait_for(LOG_MESSAGE) is None:
            break


@official_scenario(
    "tools-call-with-progress", "Call a tool that reports progress", needs=(fixture_tool(REPORTING),)
)
async def drive_tools_call_with_progress(stage: Stage) -> None:
    peer = await stage.open()
    await open_server_stream(stage, peer)
    params = {"name": REPORTING, "arguments": {}, "_meta": {"progressToken": TOKEN}}
    reply = await peer.request("tools/call", params)
    for _ in range(COUNT if reply.is_result else 0):
        if await peer.wait_for(PROGRESS, progressToken=TOKEN) is None:
            break


# --- how it is judged


@official_check("tools-call-with-logging", "A tool logs while it runs")
def judge_tools_call_with_logging(trace: Trace) -> Iterator[Observation]:
    def logged(exchange: Exchange) -> list[Message]:
        request = exchange.request.frame
        return [
            message
            for message in trace.received
            if message.method == LOG_MESSAGE
            and message.frame.connection == request.connection
            and message.frame.n > request.n
            and severity(message.params.get("level")) is not None
            and "data" in message.params
        ]

    expected = "log messages with a level and data"
    return observe_notifications(trace, "tools-call-with-logging", LOGGING, LOG_MESSAGE, logged, expected)


@official_check("tools-call-with-progress", "A tool reports its progress")
def judge_tools_call_with_progress(trace: Trace) -> Iterator[Observation]:
    def reported(exchange: Exchange) -> list[Message]:
        connection, token = exchange.request.frame.connection, token_of(exchange.request)
        reports = [message for message in trace.received if message.method == PROGRESS]
        own = [message for message in reports if message.frame.connection == connection]
        return [message for message in own if same_id(message.params.get("progressToken"), token)]

    requirement = "tools-call-with-progress"
    expected = "reports under the progress token of the request"
    yield from observe_notifications(trace, requirement, REPORTING, PROGRESS, reported, expected)
    yield from borrow(trace, requirement, progress.judge_progress_values, "PRG-03")
    yield from borrow(trace, requirement, progress.judge_progress_tokens, "PRG-04", "PRG-05")


# --- what the checks must catch


@on_reply("logs only once", breaks="tools-call-with-logging", silent=True)
def logs_once(reply: Json, context: FaultContext) -> Json | None:
    if reply.get("method") != LOG_MESSAGE:
        return reply
    return None if context.memory.setdefault("logged", reply) is not reply else reply


@on_reply("reports progress after the answer", breaks="tools-call-with-progress")
def progress_after_answer(reply: Json, context: FaultContext) -> list[Json]:
    token = context.meta.get("progressToken")
    if context.method != "tools/call" or token is None:
        return [reply]
    params = {"progressToken": token, "progress": 1000}
    return [reply, {"jsonrpc": "2.0", "method": PROGRESS, "params": params}]


def _edit_progress(edit: Callable[[Json], object]) -> Callable[[Json, FaultContext], Json]:
    def change(reply: Json, context: FaultContext) -> Json:
        if reply.get("method") == PROGRESS:
            edit(reply["params"])
        return reply

    return change


PROGRESS_FAULTS: Final = tuple(
    on_reply(fault, id=f"tools.{name}", breaks="tools-call-with-progress", silent=silent)(
        _edit_progress(edit)
    )
    for name, fault, silent, edit in (
        (
            "progress-back",
            "reports decreasing progress",
            False,
            lambda params: params.update(progress=100 - params["progress"]),
        ),
        (
            "progress-of-another",
            "reports progress under another token",
            True,
            lambda params: params.update(progressToken="progress-of-the-server"),
        ),
        (
            "progress-stands-still",
            "repeats the same progress",
            False,
            lambda params: params.update(progress=1),
        ),
    )
)
