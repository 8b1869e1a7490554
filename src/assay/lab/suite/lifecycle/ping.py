"""Pings are answered."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    observe,
    on_reply,
    on_request,
    scenario,
)
from assay.lab.harness.sabotage.saboteur import Answered
from assay.lab.harness.transport import STDIO_ONLY
from assay.model.error import INVALID_REQUEST, METHOD_NOT_FOUND

# --- what is asked


@scenario(
    "Pings",
    exercises=("lifecycle.ping",),
    window=lambda revision: "ping" in revision.requests,
    official="ping",
)
async def drive_ping(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("ping")
    await peer.request("ping", request_id="a ping named by text")


# --- how it is judged


@check("ping is answered with an empty result", requirements=("PNG-01",), everywhere=True)
def judge_ping(trace: Trace) -> Iterator[Observation]:
    unanswered = [mark.info.get("id") for mark in trace.marks("no answer")]
    for exchange in trace.exchanges("ping"):
        # Whether a batch is taken at all is judged as such: see `jsonrpc.batches`.
        if exchange.request.place is not None:
            continue
        # HTTP may refuse the request around it, for a header or a session: then no ping was seen.
        if exchange.head is not None and exchange.head.status >= 400:
            continue
        # A scenario may have ended before the answer: only what it waited for in vain counts.
        if exchange.answer is not None or exchange.request.id in unanswered:
            content = None if exchange.result is None else {**exchange.result, "_meta": None}
            yield observe(
                "PNG-01", content == {"_meta": None}, exchange, expected="an empty result", observed=exchange
            )


# --- what the checks must catch


@on_reply("ping is never answered", breaks="PNG-01", transports=STDIO_ONLY, silent=True)
def ignores_ping(reply: Json, context: FaultContext) -> Json | None:
    return None if context.method == "ping" else reply


@on_reply("ping gets -32601", breaks="PNG-01")
def no_ping(reply: Json, context: FaultContext) -> Json:
    if context.method != "ping":
        return reply
    return {"jsonrpc": "2.0", "id": reply["id"], "error": {"code": METHOD_NOT_FOUND, "message": "no ping"}}


@on_request("ping is refused before `notifications/initialized`", breaks="PNG-01")
def ping_when_ready(message: Json, context: FaultContext) -> Json | Answered:
    if message.get("method") == "notifications/initialized":
        context.memory["ready"] = True
    if message.get("method") != "ping" or "ready" in context.memory:
        return message
    error = {"code": INVALID_REQUEST, "message": "not initialized"}
    return Answered([{"jsonrpc": "2.0", "id": message["id"], "error": error}])


@on_reply("ping is answered with content", breaks="PNG-01")
def pong(reply: Json, context: FaultContext) -> Json:
    return {**reply, "result": {"message": "pong"}} if context.method == "ping" else reply
