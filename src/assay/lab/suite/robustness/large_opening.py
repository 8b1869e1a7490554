"""A client with a very large name and capabilities, which a server may keep for the whole conversation."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    error_reply,
    observe,
    on_request,
    scenario,
    scripted,
)
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.links.broken_off import Gone, NoAnswer
from assay.lab.harness.sabotage.saboteur import (
    Conversation,
    LocalAnswer,
    meta_of,
    newest_of_each_kind,
    params_of,
)
from assay.lab.harness.sabotage.script import minimal_answer
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import Transport
from assay.lab.suite.later_request import later_requests, open_afterwards
from assay.lab.suite.unanswered import is_refused, unanswered
from assay.model.error import INTERNAL_ERROR
from assay.revisions.revision import Opening, Revision

EVERY: Final = frozenset({Transport.STDIO, Transport.HTTP, Transport.WEBSOCKET})

# --- what is asked


SIZE: Final = 256 * 1024
"""More than many servers accept, but less than the limits that servers document (4 MiB, for example)."""
CLIENT_INFO: Final = {"name": "a" * (SIZE // 2), "version": "1"}
CAPABILITIES: Final = {"experimental": {"assay-lab": {"padding": "a" * (SIZE // 2)}}}


@scenario(
    "Open a conversation as a client with a very large name and capabilities",
    exercises=("robustness.large-opening", "robustness.after-large-opening"),
)
async def drive_large_opening(stage: Stage) -> None:
    if stage.transport is not Transport.STDIO:
        # The control, and a client that must not suffer.
        bystander = await stage.open()
        await bystander.request(stage.plain)
    peer = await stage.connect()
    with contextlib.suppress(Gone, NoAnswer):
        if (await _open_large(stage, peer)).is_result:
            await _continue(stage, peer)
    if stage.transport is not Transport.STDIO:
        await bystander.request(stage.plain)
        await open_afterwards(stage)


async def _open_large(stage: Stage, peer: Peer) -> Reply:
    if stage.revision.opening is Opening.HANDSHAKE:
        return await peer.initialize(clientInfo=CLIENT_INFO, capabilities=CAPABILITIES)
    meta = {CLIENT_KEY: CLIENT_INFO, CAPABILITIES_KEY: CAPABILITIES}
    return await peer.request(stage.plain, {"_meta": meta})


async def _continue(stage: Stage, peer: Peer) -> None:
    if stage.revision.opening is Opening.HANDSHAKE:
        await peer.notify("notifications/initialized")
    await peer.request(stage.plain)


# --- how it is judged


REFUSALS: Final = frozenset({1008, 1009})
"""Codes with which a WebSocket is closed because of a message: a policy, or its size."""


def _large_openings(trace: Trace) -> list[Exchange]:
    return [exchange for exchange in trace.exchanges() if len(exchange.request.body) >= SIZE]


@check("A very large opening is answered or refused", requirements=("ROBUST-01",))
def judge_large_opening(trace: Trace) -> Iterator[Observation]:
    expected = "a result, an error, an HTTP error status or a WebSocket close code for large messages"
    for exchange in _large_openings(trace):
        refused = any(_is_refusal(frame, exchange) for frame in trace.frames)
        problem = None if refused else unanswered(exchange, trace)
        if refused or exchange.answers or is_refused(exchange) or problem is not None:
            holds = problem is None
            yield observe("ROBUST-01", holds, exchange, expected=expected, observed=problem or exchange)


def _is_refusal(frame: Frame, exchange: Exchange) -> bool:
    """Whether the subject closed the WebSocket because of the message."""
    return (
        frame.kind is Kind.CONTROL
        and frame.info.get("what") == "close"
        and frame.channel == exchange.request.frame.channel
        and frame.n > exchange.request.frame.n
        and int.from_bytes(frame.raw[:2], "big") in REFUSALS
    )


@check("After a very large opening, other requests are served", requirements=("ROBUST-02",))
def judge_after_large_opening(trace: Trace) -> Iterator[Observation]:
    for large in _large_openings(trace):
        begin = large.request.frame
        # A client that was refused may not be served further.
        excluded = "" if large.result is not None else begin.connection
        yield from later_requests("ROBUST-02", trace, begin, excluded)


# --- what the checks must catch


def _is_large(message: Json) -> bool:
    places: tuple[Any, ...] = (params_of(message).get("clientInfo"), meta_of(message).get(CLIENT_KEY))
    return any(isinstance(place, dict) and len(str(place.get("name"))) >= SIZE // 2 for place in places)


@on_request("does not answer a very large opening", breaks="ROBUST-01", transports=EVERY, silent=True)
def large_opening_ignored(message: Json, context: FaultContext) -> Json | LocalAnswer:
    return LocalAnswer([]) if _is_large(message) else message


@scripted("exits on a very large opening", breaks="ROBUST-01")
async def large_opening_ends(conversation: Conversation, revision: Revision) -> None:
    while (message := await conversation.receive()) is not None and not _is_large(message):
        answer = minimal_answer(message, revision)
        if answer is not None:
            conversation.send(answer)


@on_request("serves no client after a very large opening", breaks="ROBUST-02", transports=EVERY)
def large_opening_exhausts(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if "id" in message and context.shared.get("exhausted"):
        return LocalAnswer([error_reply(message, INTERNAL_ERROR, "out of memory")])
    context.shared["exhausted"] = context.shared.get("exhausted") or _is_large(message)
    return message


@on_request(
    "is silent after a very large opening", breaks="ROBUST-02", window=newest_of_each_kind, silent=True
)
def large_opening_blocks(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if "id" in message and context.shared.get("blocked"):
        return LocalAnswer([])
    context.shared["blocked"] = context.shared.get("blocked") or _is_large(message)
    return message
