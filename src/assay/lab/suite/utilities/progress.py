"""Progress notifications: their tokens and values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Final

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
from assay.lab.harness.driver.choice import A_SAFE_REQUEST, calls_with_progress, safe_requests_for
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.lab.harness.trace.message import LEVELS, Message, Shape, same_id
from assay.lab.harness.trace.order import is_later
from assay.lab.harness.transport import Transport
from assay.lab.suite.event_stream import PROGRESS, token_of

# --- what is asked


@scenario(
    "Call tools with and without a progress token",
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
    usual = safe_requests_for(stage.facts)
    reporting = [safe for safe in calls_with_progress(stage.facts) if safe not in usual]
    for number, safe in enumerate([*reporting, *usual]):
        await safe.ask(peer, {"progressToken": number, **level})
        await safe.ask(peer)


# --- how it is judged


@check("Progress increases", requirements=("PRG-03", "PRG-06"), everywhere=True)
def judge_progress_values(trace: Trace) -> Iterator[Observation]:
    for messages in _by_request(trace):
        for before, message in pairwise(messages):
            last, value = _value(before), _value(message)
            if last is not None and value is not None:
                expected = f"more than {last}"
                yield observe("PRG-03", value > last, before, message, expected=expected, observed=value)
        for message in messages:
            if "message" in message.params:
                text = message.params["message"]
                readable = isinstance(text, str) and bool(text.strip())
                yield observe("PRG-06", readable, message, expected="readable text", observed=repr(text))


def _by_request(trace: Trace) -> Iterator[list[Message]]:
    """Progress by token and channel; a request that uses a token again starts another list."""
    lists: dict[tuple[str, str], list[Message]] = {}
    for message in trace.messages:
        if message.by_subject and message.method == PROGRESS:
            token = message.params.get("progressToken")
            lists.setdefault((repr(token), message.frame.channel), []).append(message)
        elif not message.by_subject and (token := token_of(message)) is not None:
            yield from [lists.pop(key) for key in list(lists) if key[0] == repr(token)]
    yield from lists.values()


def _value(message: Message) -> float | None:
    value = message.params.get("progress")
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


@check(
    "Progress names a running request",
    requirements=("PRG-01", "PRG-02", "PRG-04", "PRG-05"),
    everywhere=True,
)
def judge_progress_tokens(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.method == PROGRESS and "progressToken" in message.params:
            token = message.params["progressToken"]
            yield _judge_type(token, message)
            yield from _judge_use(token, message, trace)
        elif message.shape is Shape.REQUEST and (token := token_of(message)) is not None:
            yield _judge_type(token, message)
            yield _judge_uniqueness(token, message, trace)


def _judge_type(token: Any, message: Message) -> Observation:
    valid, expected = type(token) in (str, int), "a string or an integer"
    return observe("PRG-01", valid, message, expected=expected, observed=repr(token))


def _judge_use(token: Any, message: Message, trace: Trace) -> Iterator[Observation]:
    """Whether the token is from a request of the driver that was not answered yet."""
    exchanges = [
        exchange
        for exchange in trace.exchanges()
        if exchange.request.frame.connection == message.frame.connection
        and exchange.request.frame.n < message.frame.n
        and same_id(token_of(exchange.request), token)
    ]
    known, observed = bool(exchanges), f"token {token!r}"
    yield observe("PRG-04", known, message, expected="the token of a request", observed=observed)
    for exchange in exchanges[-1:]:
        over = exchange.answer is not None and is_later(message, exchange.answer, trace)
        expected, observed = "no progress after the answer", "progress after it"
        yield observe("PRG-05", not over, message, exchange, expected=expected, observed=observed)


def _judge_uniqueness(token: Any, request: Message, trace: Trace) -> Observation:
    """Whether the subject has no other open request with the token."""
    before = [
        message
        for message in trace.messages
        if message.frame.connection == request.frame.connection and message.frame.n < request.frame.n
    ]
    answered = [message.id for message in before if not message.by_subject and message.is_response]
    rivals = [
        message
        for message in before
        if message.by_subject
        and message.shape is Shape.REQUEST
        and same_id(token_of(message), token)
        and not any(same_id(message.id, name) for name in answered)
    ]
    expected, observed = "a token that no other open request has", f"token {token!r}"
    return observe("PRG-02", not rivals, *rivals, request, expected=expected, observed=observed)


# --- what the checks must catch


def _edited_progress(name: str, fault: str, breaks: str, edit: Callable[[Json], Json]) -> Saboteur:
    """Change parameters of progress notifications."""

    def change(reply: Json, context: FaultContext) -> Json:
        if reply.get("method") == PROGRESS:
            reply["params"] |= edit(reply["params"])
        return reply

    saboteur: Saboteur = on_reply(fault, id=f"utilities.{name}", breaks=breaks)(change)
    return saboteur


PROGRESS_EDITS: Final = tuple(
    _edited_progress(*row)
    for row in (
        (
            "progress-counts-down",
            "counts progress down",
            "PRG-03",
            lambda params: {"progress": params["total"] - params["progress"]},
        ),
        ("progress-stands-still", "repeats the value of progress", "PRG-03", lambda params: {"progress": 1}),
        (
            "progress-says-nothing",
            "sends progress with an empty message",
            "PRG-06",
            lambda params: {"message": ""},
        ),
        (
            "token-wrapped",
            "sends the progress token as an object",
            "PRG-01",
            lambda params: {"progressToken": {"token": params["progressToken"]}},
        ),
        (
            "token-as-text",
            "sends a numeric token as a string",
            "PRG-04",
            lambda params: {"progressToken": str(params["progressToken"])},
        ),
    )
)


@on_reply("sends two requests with the same token", breaks="PRG-02")
def one_token_for_all(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call":
        return [reply]
    meta = {"_meta": {"progressToken": "progress"}}
    pings = [{"jsonrpc": "2.0", "id": f"ping-{n}", "method": "ping", "params": meta} for n in range(2)]
    return [*pings, reply]


@on_reply("sends progress for a request without a token", breaks="PRG-04")
def progress_unasked(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/call" or "progressToken" in context.meta:
        return [reply]
    params = {"progressToken": f"request-{reply['id']}", "progress": 1}
    return [{"jsonrpc": "2.0", "method": PROGRESS, "params": params}, reply]


@on_reply("sends progress after the answer", breaks="PRG-05")
def progress_after_answer(reply: Json, context: FaultContext) -> list[Json]:
    token = context.meta.get("progressToken")
    if context.method != "tools/call" or token is None:
        return [reply]
    params = {"progressToken": token, "progress": 1000}
    return [reply, {"jsonrpc": "2.0", "method": PROGRESS, "params": params}]
