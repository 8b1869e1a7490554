"""Progress in both directions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any, Final

from assay.lab.client.altered_message import is_call, progress, with_meta
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, rejected
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, step
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import Exchange
from assay.revisions.revision import Asking

TOKEN: Final = "model-1"

# --- what is asked


WAIT: Final = 1.0
"""Seconds that the first call waits for the second."""


@client_scenario(
    "Report progress of two calls at once",
    script=ClientScript(
        steps=(LIST_TOOLS, step("together", steps=[call_tool("slow", n=1), call_tool("slow", n=2)]))
    ),
    exercises=("utilities.progress-tokens",),
)
async def drive_progress(stage: ClientStage) -> None:
    both = asyncio.Event()
    calls = count(1)

    async def slow(cycle: RequestCycle) -> Answer:
        await cycle.progress(1, 2)
        if next(calls) == 2:
            both.set()
        with suppress(TimeoutError):  # a client may make one call after the other
            async with asyncio.timeout(WAIT):
                await both.wait()
        await cycle.progress(2, 2)
        return {"content": []}

    stage.server.add_tool({"name": "slow", "inputSchema": {"type": "object"}}, slow)


QUESTION: Final = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "Say hello"}}],
    "maxTokens": 100,
    "_meta": {"progressToken": TOKEN},
}


@client_scenario(
    "Send the client a request with a progress token",
    script=ClientScript(
        steps=(LIST_TOOLS, call_tool("asking"), call_tool(AFTER)),
        capabilities=("sampling",),
        answers={"sampling": {"text": "hello"}},
    ),
    exercises=("utilities.own-progress", "asking.declared"),
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
async def drive_own_progress(stage: ClientStage) -> None:
    async def ask(cycle: RequestCycle) -> Answer:
        await cycle.ask("sampling/createMessage", QUESTION)
        return {"content": []}

    stage.server.add_tool({"name": "asking"}, ask)
    stage.server.add_tool({"name": AFTER})


# --- how it is judged


ABSENT: Final = object()


def _token(exchange: Exchange) -> Any:
    return exchange.request.meta.get("progressToken", ABSENT)


@check(
    "Progress increases, and is only sent for open requests",
    requirements=("PRG-03", "PRG-04", "PRG-05"),
    everywhere=True,
)
def judge_own_progress(trace: Trace) -> Iterator[Observation]:
    latest: dict[int, Any] = {}
    for message in trace.received:
        if message.method != "notifications/progress":
            continue
        token, value = message.params.get("progressToken"), message.params.get("progress")
        before = (exchange for exchange in trace.exchanges() if exchange.request.frame.n < message.frame.n)
        request = next((exchange for exchange in before if same_id(_token(exchange), token)), None)
        expected, observed = "the token of a request of the server", f"token {token!r}"
        yield observe("PRG-04", request is not None, message, expected=expected, observed=observed)
        if request is None:
            continue
        done = request.answer is not None and request.answer.frame.n < message.frame.n
        expected, observed = "no progress after the answer", "progress after the answer"
        yield observe("PRG-05", not done, message, request, expected=expected, observed=observed)
        last = latest.get(id(request))
        if isinstance(value, int | float) and isinstance(last, int | float):
            expected = f"more than {last}"
            yield observe("PRG-03", value > last, message, expected=expected, observed=str(value))
        latest[id(request)] = value


@check(
    "Each open request has its own valid progress token", requirements=("PRG-01", "PRG-02"), everywhere=True
)
def judge_progress_tokens(trace: Trace) -> Iterator[Observation]:
    pending: list[Exchange] = []
    for exchange in trace.subject_exchanges():
        token, request = _token(exchange), exchange.request
        if token is ABSENT or rejected(exchange):
            continue
        holds, expected = type(token) in (str, int), "a string or an integer"
        yield observe("PRG-01", holds, request, expected=expected, observed=f"{token!r}")
        pending = [earlier for earlier in pending if not _is_answered(earlier, request)]
        for earlier in pending:
            if earlier.request.frame.connection == request.frame.connection:
                holds = not same_id(_token(earlier), token)
                expected, observed = "a token that no open request has", f"{token!r} twice"
                yield observe("PRG-02", holds, earlier.request, request, expected=expected, observed=observed)
        pending.append(exchange)


def _is_answered(earlier: Exchange, later: Message) -> bool:
    return earlier.answer is not None and earlier.answer.frame.n < later.frame.n


# --- what the checks must catch


@on_message("sends progress that decreases", breaks="PRG-03", scenario="utilities.own-progress")
def progress_shrinks(message: Json, client: ScriptedClient) -> list[Json]:
    return [progress(TOKEN, 2), progress(TOKEN, 1), message] if "result" in message else [message]


@on_message("sends progress with an unknown token", breaks="PRG-04", scenario="utilities.own-progress")
def progress_of_nothing(message: Json, client: ScriptedClient) -> list[Json]:
    return [progress("made up", 1), message] if "result" in message else [message]


@on_message("sends progress after the answer", breaks="PRG-05", scenario="utilities.own-progress")
def progress_after_answer(message: Json, client: ScriptedClient) -> list[Json]:
    if "result" in message:
        client.memory["answered"] = True
    # Only the next call is certain to come after the answer.
    late = is_call(message, AFTER) and client.memory.get("answered")
    return [message, progress(TOKEN, 1)] if late else [message]


@on_message("uses a list as a progress token", breaks="PRG-01", scenario="utilities.progress")
def progress_token_fraction(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: {**meta, "progressToken": [1]})


@on_message("uses one progress token for all requests", breaks="PRG-02", scenario="utilities.progress")
def progress_token_twice(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: {**meta, "progressToken": "mine"})
