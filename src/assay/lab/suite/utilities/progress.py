"""Progress notifications: their tokens and values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    observe,
    on_reply,
    scenario,
)
from assay.lab.harness.driver.choice import A_SAFE_REQUEST, safe_requests_for
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.trace.message import LEVELS, Message, Shape, same_id
from assay.lab.harness.trace.order import is_later
from assay.lab.harness.transport import Transport

# --- what is asked


@scenario(
    "Work that reports",
    exercises=(
        "utilities.progress-values",
        "utilities.progress-tokens",
        "utilities.log-declared",
        "utilities.log-on-demand",
        "lifecycle.version-respected",
        "lifecycle.negotiated-only",
    ),
    needs=(A_SAFE_REQUEST,),
)
async def drive_working(stage: Stage) -> None:
    peer = await stage.open()
    if stage.transport is Transport.HTTP and stage.revision.http.sessions:
        await peer.http.listen()
    if stage.facts.declares("logging") and not stage.revision.logs_on_demand:
        await peer.request("logging/setLevel", {"level": LEVELS[0]})
    level = {LOG_LEVEL_KEY: LEVELS[0]} if stage.revision.logs_on_demand else {}
    for number, errand in enumerate(safe_requests_for(stage.facts)):
        await errand.ask(peer, {"progressToken": number, **level})
        await errand.ask(peer)


# --- how it is judged


@check("Progress increases", requirements=("PRG-03", "PRG-06"), everywhere=True)
def judge_progress_values(trace: Trace) -> Iterator[Observation]:
    for told in _by_request(trace):
        for before, message in pairwise(told):
            last, now = _value(before), _value(message)
            if last is not None and now is not None:
                expected = f"more than {last}"
                yield observe("PRG-03", now > last, before, message, expected=expected, observed=now)
        for message in told:
            if "message" in message.params:
                text = message.params["message"]
                meant = isinstance(text, str) and bool(text.strip())
                yield observe("PRG-06", meant, message, expected="a text for people", observed=repr(text))


def _by_request(trace: Trace) -> Iterator[list[Message]]:
    """What was told under one token on one channel; a request that uses the token anew begins anew."""
    told: dict[tuple[str, str], list[Message]] = {}
    for message in trace.messages:
        if message.by_subject and message.method == "notifications/progress":
            token = message.params.get("progressToken")
            told.setdefault((repr(token), message.frame.channel), []).append(message)
        elif not message.by_subject and (token := _asked_for(message)) is not None:
            again = [key for key in told if key[0] == repr(token)]
            yield from [told.pop(key) for key in again]
    yield from told.values()


def _asked_for(message: Message) -> Any:
    meta = message.params.get("_meta")
    return meta.get("progressToken") if isinstance(meta, dict) else None


def _value(message: Message) -> float | None:
    value = message.params.get("progress")
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


PROGRESS = "notifications/progress"


@check(
    "Progress names a running request", requirements=("PRG-01", "PRG-02", "PRG-04", "PRG-05"), everywhere=True
)
def judge_progress_tokens(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.method == PROGRESS and "progressToken" in message.params:
            token = message.params["progressToken"]
            yield _well_typed(token, message)
            yield from _in_use(token, message, trace)
        elif message.shape is Shape.REQUEST and (token := _token(message)) is not None:
            yield _well_typed(token, message)
            yield _unique(token, message, trace)


def _well_typed(token: Any, message: Message) -> Observation:
    return observe(
        "PRG-01", type(token) in (str, int), message, expected="a string or an integer", observed=repr(token)
    )


def _in_use(token: Any, message: Message, trace: Trace) -> Iterator[Observation]:
    """Given by a request of the driver, whose answer was not sent yet."""
    given = [
        one
        for one in trace.exchanges()
        if one.request.frame.connection == message.frame.connection
        and one.request.frame.n < message.frame.n
        and same_id(_token(one.request), token)
    ]
    yield observe(
        "PRG-04", bool(given), message, expected="the token of a request", observed=f"token {token!r}"
    )
    if given:
        answer = given[-1].answer
        over = answer is not None and is_later(message, answer, trace)
        expected = "no progress after the answer"
        yield observe("PRG-05", not over, message, given[-1], expected=expected, observed="progress after it")


def _unique(token: Any, message: Message, trace: Trace) -> Observation:
    """Among the subject's own requests that the driver has not answered yet."""
    before = [
        one
        for one in trace.messages
        if one.frame.connection == message.frame.connection and one.frame.n < message.frame.n
    ]
    answered = [one.id for one in before if not one.by_subject and one.is_response]
    rivals = [
        one
        for one in before
        if one.by_subject
        and one.shape is Shape.REQUEST
        and same_id(_token(one), token)
        and not any(same_id(one.id, other) for other in answered)
    ]
    return observe(
        "PRG-02", not rivals, *rivals, message, expected="a token of its own", observed=f"token {token!r}"
    )


def _token(message: Message) -> Any:
    meta = message.params.get("_meta")
    return meta.get("progressToken") if isinstance(meta, dict) else None


# --- what the checks must catch


@on_reply("progress decreases", breaks="PRG-03")
def progress_counts_down(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["progress"] = reply["params"]["total"] - reply["params"]["progress"]
    return reply


@on_reply("progress repeats its value", breaks="PRG-03")
def progress_stands_still(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["progress"] = 1
    return reply


@on_reply("the message of progress is empty", breaks="PRG-06")
def progress_says_nothing(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["message"] = ""
    return reply


@on_reply("the progress token is an object", breaks="PRG-01")
def token_wrapped(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["progressToken"] = {"token": reply["params"]["progressToken"]}
    return reply


@on_reply("two requests of the server have the same token", breaks="PRG-02")
def one_token_for_all(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call":
        return [reply]
    meta = {"_meta": {"progressToken": "progress"}}
    pings = [{"jsonrpc": "2.0", "id": f"ping-{n}", "method": "ping", "params": meta} for n in range(2)]
    return [*pings, reply]


@on_reply("progress for a request without a token", breaks="PRG-04")
def progress_unasked(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call" or "progressToken" in context.meta:
        return [reply]
    params = {"progressToken": f"request-{reply['id']}", "progress": 1}
    return [{"jsonrpc": "2.0", "method": "notifications/progress", "params": params}, reply]


@on_reply("a numeric token comes back as a string", breaks="PRG-04")
def token_as_text(reply: Json, context: FaultContext) -> Json:
    if reply.get("method") == "notifications/progress":
        reply["params"]["progressToken"] = str(reply["params"]["progressToken"])
    return reply


@on_reply("progress comes after the answer", breaks="PRG-05")
def progress_after_answer(reply: Json, context: FaultContext) -> list[Json]:
    token = context.meta.get("progressToken")
    if context.method != "tools/call" or token is None:
        return [reply]
    params = {"progressToken": token, "progress": 1000}
    return [reply, {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}]
