"""The endpoint: which methods it takes, and what an accepted notification gets."""

from __future__ import annotations

from collections.abc import Iterator

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
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.transport import HTTP_ONLY

# --- what is asked


@scenario(
    "The methods of the endpoint", exercises=("http.endpoint", "streams.answer-type"), transports=HTTP_ONLY
)
async def drive_endpoint(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(stage.plain)
    if stage.revision.http.sessions:
        await peer.taken(await peer.http.listen())


SOUND = {"jsonrpc": "2.0", "method": "notifications/no-such-notification", "params": {"of": "the lab"}}
UNSOUND = (
    {"jsonrpc": "1.0", "method": "notifications/cancelled", "params": {"requestId": 4711}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7},
    {"method": "notifications/cancelled"},
)
RESPONSE = {"jsonrpc": "2.0", "id": "never-asked", "result": {}}


@scenario(
    "Notifications and responses that a server may refuse",
    exercises=("http.accepted-notification",),
    transports=HTTP_ONLY,
)
async def drive_refusable(stage: Stage) -> None:
    peer = await stage.open()
    for message in (SOUND, RESPONSE, *UNSOUND):
        await peer.offer(message)


# --- how it is judged


# Statuses that say "not here". A GET may be declined with 405, which is an answer of the endpoint.
NOT_HERE = {"POST": (405, 501), "GET": (404, 501)}


@check("The endpoint takes POST, and GET where it is known", requirements=("HTTP-01",), transports=HTTP_ONLY)
def judge_endpoint(trace: Trace) -> Iterator[Observation]:
    methods = ("POST", "GET") if trace.revision.http.sessions else ("POST",)
    for call in trace.calls:
        method = call.sent.method
        if method in methods and call.head is not None and call.sent.get("origin") is None:
            yield observe(
                "HTTP-01",
                call.status not in NOT_HERE[method],
                call,
                expected=f"one endpoint that takes {' and '.join(methods)}",
                observed=f"status {call.status} for {method}",
            )


@check(
    "An accepted notification gets 202 and no body, a refused one an error status",
    requirements=("HTTP-10", "HTTP-11"),
    transports=HTTP_ONLY,
)
def judge_accepted_notification(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.head is None or not call.asked or not all(map(needs_no_answer, call.asked)):
            continue
        refused = call.status >= 400 or call.code is not None
        if refused:
            yield observe(
                "HTTP-11",
                call.status >= 400,
                call,
                expected="an HTTP error status with the refusal",
                observed=f"status {call.status} with error {call.code}",
            )
        else:
            yield observe(
                "HTTP-10",
                call.status == 202 and not call.body,
                call,
                expected="status 202 without a body",
                observed=f"status {call.status}, {len(call.body)} bytes",
            )


def needs_no_answer(message: Message) -> bool:
    # Without an id nobody can be answered: this holds for a malformed notification as well.
    return message.is_response or (message.shape is Shape.NOTIFICATION and "id" not in message.fields)


# --- what the checks must catch


@on_call("GET on the endpoint gets 404", breaks="HTTP-01", window=lambda revision: revision.http.sessions)
def get_not_found(request: Request, context: FaultContext) -> Response | None:
    return Response([], 404, b"Not Found") if request.method == "GET" else None


@on_call("POST on the endpoint gets 405 once the conversation is open", breaks="HTTP-01")
def messages_elsewhere(request: Request, context: FaultContext) -> Response | None:
    if (
        request.method != "POST"
        or context.method == "initialize"
        or not context.memory.setdefault("asked", [])
    ):
        context.memory.setdefault("asked", []).append(context.method)
        return None
    return Response([("Allow", "GET")], 405, b"")


@on_response("202 comes with the text Accepted", breaks="HTTP-10")
def accepted_with_text(response: Response, context: FaultContext) -> None:
    if response.status == 202:
        response.set("Content-Type", "text/plain")
        response.body = b"Accepted"


@on_response("an accepted notification gets 204", breaks="HTTP-10")
def no_content(response: Response, context: FaultContext) -> None:
    response.status = 204 if response.status == 202 else response.status


@on_response("a notification gets 200 and an empty object", breaks="HTTP-10")
def notification_ok(response: Response, context: FaultContext) -> None:
    if response.status == 202:
        response.status = 200
        response.set("Content-Type", "application/json")
        response.body = b"{}"


@on_response("a refused notification gets 200 and an error", breaks="HTTP-11")
def refused_with_ok(response: Response, context: FaultContext) -> None:
    if response.status >= 400 and context.request is not None and "id" not in context.request:
        response.status = 200
