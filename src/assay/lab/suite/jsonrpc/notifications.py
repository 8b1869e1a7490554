"""Notifications get no response."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    observe,
    on_batch,
    on_request,
    scenario,
)
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.sabotage.alteration import encode
from assay.lab.harness.sabotage.saboteur import LocalAnswer, newest_of_each_kind
from assay.lab.harness.trace.message import Message, Shape, same_id
from assay.lab.harness.trace.unexplained_error import names_nothing
from assay.model.error import INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from assay.revisions.revision import Batching

# --- what is asked


BATCHED = "a batch of them"
"""The probe of `jsonrpc.batch`."""


@scenario(
    "Send known and unknown notifications",
    exercises=("jsonrpc.silent-notifications", "http.accepted-notification"),
)
async def drive_notifications(stage: Stage) -> None:
    peer = await stage.open()
    async with peer.probe("notification", what="unknown"):
        await peer.notify("notifications/no-such-notification", {"of": "the lab"})
    async with peer.probe("notification", what="cancels nothing"):
        await peer.notify("notifications/cancelled", {"requestId": 4711, "reason": "never sent"})
    async with peer.probe("notification", what="named like a request"):
        await peer.notify(stage.plain, declared(stage.revision, {}, {}))


# --- how it is judged


@check("Notifications are not answered", requirements={"BASE-10": "A notification got a response"})
def judge_silent_notifications(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("notification"):
        if probe.info.get("what") == BATCHED and not _takes_batches(trace):
            continue
        answers = [answer for answer in probe.answers if not _is_http_refusal(trace, answer)]
        expected = "no response to a notification"
        observed = answers[0] if answers else "none"
        yield observe("BASE-10", not answers, probe, expected=expected, observed=observed)


def _takes_batches(trace: Trace) -> bool:
    """Whether a batch of requests was answered, which is the control for a batch of notifications: a refused
    batch is reported once, as such."""
    return any(
        answer.place is not None or same_id(answer.id, request.id)
        for probe in trace.probes("batch")
        for request in probe.sent
        for answer in probe.answers
        if answer.code not in (INVALID_REQUEST, PARSE_ERROR)
    )


def _is_http_refusal(trace: Trace, answer: Message) -> bool:
    """HTTP refuses messages by status, and may explain the refusal in an error without an id."""
    without_id = answer.shape is Shape.ERROR and names_nothing(answer)
    return without_id and trace.status_of(answer) >= 400


# --- what the checks must catch


@on_request("answers a notification with an empty result", breaks="BASE-10")
def answers_notifications(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if "id" in message or message.get("method") == "notifications/initialized":
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "id": None, "result": {}}])


@on_batch(
    "answers a batch of notifications",
    breaks="BASE-10",
    scenario="jsonrpc.batch",
    window=lambda revision: revision.batching is Batching.ACCEPTED,
)
def batched_notifications(members: list[Any], context: FaultContext) -> list[Any] | LocalAnswer:
    if any("id" in member for member in members):
        return members
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": "no id"}}
    return LocalAnswer([encode([error for _ in members])])


@on_request("answers an unknown notification with -32601", breaks="BASE-10", scenario="jsonrpc.notifications")
def error_to_notification(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if message.get("method") != "notifications/no-such-notification":
        return message
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": None, "error": error}])


@on_request(
    "serves a request without an id",
    breaks="BASE-10",
    window=newest_of_each_kind,
    scenario="jsonrpc.notifications",
)
def serves_without_id(message: Json, context: FaultContext) -> Json | LocalAnswer:
    if "id" in message or "method" not in message or message["method"].startswith("notifications/"):
        return message
    return LocalAnswer([{"jsonrpc": "2.0", "result": {}}])
