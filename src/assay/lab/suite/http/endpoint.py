"""The endpoint: which methods it accepts, and the reply to a notification."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness import (
    FaultContext,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    check,
    observe,
    on_call,
    on_response,
    scenario,
)
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.unexplained_error import is_notification
from assay.lab.harness.transport import HTTP_ONLY

# --- what is asked


@scenario(
    "Send POST and GET to the endpoint",
    exercises=("http.endpoint", "streams.answer-type"),
    transports=HTTP_ONLY,
)
async def drive_endpoint(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    if stage.revision.http.sessions:
        await peer.wait_accepted(await peer.http.listen())


REFUSABLE: Final = (
    {"jsonrpc": "2.0", "method": "notifications/no-such-notification", "params": {"of": "the lab"}},
    {"jsonrpc": "2.0", "id": "never-asked", "result": {}},
    {"jsonrpc": "1.0", "method": "notifications/cancelled", "params": {"requestId": 4711}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7},
    {"method": "notifications/cancelled"},
)


@scenario(
    "Send notifications and responses that a server may refuse",
    exercises=("http.accepted-notification",),
    transports=HTTP_ONLY,
)
async def drive_refusable(stage: Stage) -> None:
    peer = await stage.open_apart()
    for message in REFUSABLE:
        await peer.offer(message)


# --- how it is judged


# Statuses of a method that the endpoint does not accept. 405 for GET means that the server offers no stream.
NOT_ACCEPTED: Final = {"POST": (405, 501), "GET": (404, 501)}


@check(
    "The endpoint accepts POST, and GET in revisions with sessions",
    requirements=("HTTP-01",),
    transports=HTTP_ONLY,
)
def judge_endpoint(trace: Trace) -> Iterator[Observation]:
    methods = ("POST", "GET") if trace.revision.http.sessions else ("POST",)
    for call in trace.calls:
        method = call.sent.method
        if method in methods and call.head is not None and call.sent.get("origin") is None:
            yield observe(
                "HTTP-01",
                call.status not in NOT_ACCEPTED[method],
                call,
                expected=f"one endpoint for {' and '.join(methods)}",
                observed=f"status {call.status} for {method}",
            )


@check(
    "An accepted notification gets 202 and no body, a refused one an error status",
    requirements=("HTTP-10", "HTTP-11"),
    transports=HTTP_ONLY,
    everywhere=True,
)
def judge_accepted_notification(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if (
            call.head is None
            or not call.request_messages
            or not all(map(_needs_no_answer, call.request_messages))
        ):
            continue
        if call.status >= 400 or call.code is not None:
            expected = "an HTTP error status"
            observed = f"status {call.status} with error {call.code}"
            yield observe("HTTP-11", call.status >= 400, call, expected=expected, observed=observed)
        else:
            yield observe(
                "HTTP-10",
                call.status == 202 and not call.body,
                call,
                expected="status 202 without a body",
                observed=f"status {call.status}, {len(call.body)} bytes",
            )


def _needs_no_answer(message: Message) -> bool:
    # The rule is about notifications and responses: malformed messages are neither.
    return is_notification(message) or (message.is_response and message.fields.get("jsonrpc") == "2.0")


# --- what the checks must catch


@on_call("answers GET with 404", breaks="HTTP-01", window=lambda revision: revision.http.sessions)
def get_not_found(request: Request, context: FaultContext) -> Response | None:
    return Response([], 404, b"Not Found") if request.method == "GET" else None


@on_call("answers POST with 405 once the conversation is open", breaks="HTTP-01")
def messages_elsewhere(request: Request, context: FaultContext) -> Response | None:
    is_open = context.memory.get("open", False)
    context.memory["open"] = True
    if request.method != "POST" or context.method == "initialize" or not is_open:
        return None
    return Response([("Allow", "GET")], 405, b"")


@on_response("sends the text Accepted with 202", breaks="HTTP-10")
def accepted_with_text(response: Response, context: FaultContext) -> None:
    if response.status == 202:
        response.set("Content-Type", "text/plain")
        response.body = b"Accepted"


@on_response("answers a notification with 204", breaks="HTTP-10")
def no_content(response: Response, context: FaultContext) -> None:
    response.status = 204 if response.status == 202 else response.status


@on_response("answers a notification with 200 and an empty object", breaks="HTTP-10")
def notification_ok(response: Response, context: FaultContext) -> None:
    if response.status == 202:
        response.status = 200
        response.set("Content-Type", "application/json")
        response.body = b"{}"


UNKNOWN: Final = b'{"jsonrpc":"2.0","error":{"code":-32601,"message":"unknown notification"}}'


@on_call("refuses a notification with 200 and an error", breaks="HTTP-11")
def refused_with_ok(request: Request, context: FaultContext) -> Response | None:
    unknown = context.method == "notifications/no-such-notification"
    return Response([("Content-Type", "application/json")], 200, UNKNOWN) if unknown else None
