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

# --- what is asked


WAITING = 1.0
"""Seconds that the first call waits for the second."""


@client_scenario(
    "Two calls are told apart by their progress tokens",
    script=ClientScript(
        steps=(LIST_TOOLS, step("together", steps=[call_tool("slow", n=1), call_tool("slow", n=2)]))
    ),
    exercises=("utilities.progress-tokens",),
)
async def drive_progress(stage: ClientStage) -> None:
    both = asyncio.Event()
    came = count(1)

    async def slow(cycle: RequestCycle) -> Answer:
        await cycle.progress(1, 2)
        if next(came) == 2:
            both.set()
        with suppress(TimeoutError):  # a client may take one step after the other
            async with asyncio.timeout(WAITING):
                await both.wait()
        await cycle.progress(2, 2)
        return {"content": []}

    stage.server.add_tool({"name": "slow", "inputSchema": {"type": "object"}}, slow)


TOKEN: Final = "model-1"
QUESTION: Final = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "Say hello"}}],
    "maxTokens": 100,
    "_meta": {"progressToken": TOKEN},
}


@client_scenario(
    "A client that is asked for progress may tell it, and answers",
    script=ClientScript(
        steps=(LIST_TOOLS, call_tool("asking"), call_tool(AFTER)),
        capabilities=("sampling",),
        answers={"sampling": {"text": "hello"}},
    ),
    exercises=("utilities.own-progress", "asking.declared"),
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
async def drive_own_progress(stage: ClientStage) -> None:
    async def asking(cycle: RequestCycle) -> Answer:
        await cycle.ask("sampling/createMessage", QUESTION)
        return {"content": []}

    stage.server.add_tool({"name": "asking"}, asking)
    stage.server.add_tool({"name": AFTER})


# --- how it is judged


GROWS, KNOWN, BEFORE = "PRG-03", "PRG-04", "PRG-05"


@check(
    "Progress grows, of requests that are in progress", requirements=(GROWS, KNOWN, BEFORE), everywhere=True
)
def judge_own_progress(trace: Trace) -> Iterator[Observation]:
    last: dict[int, Any] = {}
    for message in trace.received:
        if message.method != "notifications/progress":
            continue
        asked = _asked(trace, message)
        expected = "the token of a request that the server sent"
        observed = f"token {message.params.get('progressToken')!r}"
        yield observe(KNOWN, asked is not None, message, expected=expected, observed=observed)
        if asked is None:
            continue
        done = asked.answer is not None and asked.answer.frame.n < message.frame.n
        expected = "no progress of a request that is answered"
        yield observe(BEFORE, not done, message, asked, expected=expected, observed="progress after that")
        yield from _grown(message, last.setdefault(id(asked), None))
        last[id(asked)] = message.params.get("progress")


def _asked(trace: Trace, message: Message) -> Exchange | None:
    token = message.params.get("progressToken")
    before = (one for one in trace.exchanges() if one.request.frame.n < message.frame.n)
    return next((one for one in before if same_id(_token(one), token)), None)


def _token(exchange: Exchange) -> Any:
    meta = exchange.params.get("_meta")
    return meta.get("progressToken") if isinstance(meta, dict) else None


def _grown(message: Message, before: Any) -> Iterator[Observation]:
    told = message.params.get("progress")
    numbers = isinstance(told, int | float) and isinstance(before, int | float)
    if numbers:
        expected, observed = f"more than {before}", str(told)
        yield observe(GROWS, told > before, message, expected=expected, observed=observed)


KIND, UNIQUE = "PRG-01", "PRG-02"
MISSING = object()


@check("Progress tokens are good, and each is one request's", requirements=(KIND, UNIQUE), everywhere=True)
def judge_progress_tokens(trace: Trace) -> Iterator[Observation]:
    waiting: list[Exchange] = []
    for exchange in trace.subject_exchanges():
        token = _progress_tokens_token(exchange)
        if token is MISSING or rejected(exchange):
            continue
        expected = "a string or an integer"
        yield observe(
            KIND, type(token) in (str, int), exchange.request, expected=expected, observed=f"{token!r}"
        )
        waiting = [other for other in waiting if not _is_done(other, exchange)]
        for other in waiting:
            if other.request.frame.connection == exchange.request.frame.connection:
                holds = not same_id(_progress_tokens_token(other), token)
                expected = "another token than that of a request that is not done"
                seen = (other.request, exchange.request)
                yield observe(UNIQUE, holds, *seen, expected=expected, observed=f"{token!r} twice")
        waiting.append(exchange)


def _progress_tokens_token(exchange: Exchange) -> Any:
    meta = exchange.params.get("_meta")
    return meta.get("progressToken", MISSING) if isinstance(meta, dict) else MISSING


def _is_done(earlier: Exchange, later: Exchange) -> bool:
    """Whether the one may have been answered when the other was sent."""
    return earlier.answer is not None and earlier.answer.frame.n < later.request.frame.n


# --- what the checks must catch


@on_message("progress is told, and then less of it", breaks="PRG-03", scenario="utilities.own-progress")
def progress_shrinks(message: Json, client: ScriptedClient) -> list[Json]:
    return [progress("model-1", 2), progress("model-1", 1), message] if "result" in message else [message]


@on_message("progress is told of an unknown token", breaks="PRG-04", scenario="utilities.own-progress")
def progress_of_nothing(message: Json, client: ScriptedClient) -> list[Json]:
    return [progress("made up", 1), message] if "result" in message else [message]


@on_message("progress is told after the answer", breaks="PRG-05", scenario="utilities.own-progress")
def progress_after_answer(message: Json, client: ScriptedClient) -> list[Json]:
    if "result" in message:
        client.memory["answered"] = True
    # The next call is the first moment at which the answer has surely gone before.
    late = is_call(message, "after") and client.memory.get("answered")
    return [message, progress("model-1", 1)] if late else [message]


@on_message("a progress token is a list", breaks="PRG-01", scenario="utilities.progress")
def progress_token_fraction(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: {**meta, "progressToken": [1]})


@on_message("all requests have one progress token", breaks="PRG-02", scenario="utilities.progress")
def progress_token_twice(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: {**meta, "progressToken": "mine"})
