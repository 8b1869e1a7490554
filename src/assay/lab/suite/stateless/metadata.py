"""`_meta` in requests and results, and the type of a result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Response,
    Trace,
    check,
    observe,
    on_reply,
    on_request,
    on_response,
    on_result,
)
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, SERVER_KEY, VERSION_KEY
from assay.lab.harness.sabotage.saboteur import meta_of, params_of
from assay.lab.harness.trace.listing import declaration
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.self_description import (
    as_object,
    capabilities_of,
    is_of_revision,
    missing_fields,
    outcome,
    reply_to,
)
from assay.model.error import HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST

# --- how it is judged


@check("A request without version or capabilities is refused", requirements=("META-08", "BASE-27"))
def judge_required_meta(trace: Trace) -> Iterator[Observation]:
    complete: set[str] = set()
    for exchange in trace.exchanges():
        connection = exchange.request.frame.connection
        lacking, reply = missing_fields(exchange, trace.revision), reply_to(exchange, trace)
        if lacking and (reply is not None or exchange.head is not None):
            refused, observed = _is_refused(exchange, reply, lacking), outcome(exchange, reply)
            expected = f"error {INVALID_PARAMS} (HTTP 400) for a request without {lacking[0]}"
            yield observe("META-08", refused, exchange, expected=expected, observed=observed)
            if connection in complete:
                expected = f"an error, although an earlier request had {lacking[0]}"
                failed = exchange.result is None
                yield observe("BASE-27", failed, exchange, expected=expected, observed=exchange)
        elif is_of_revision(exchange, trace.revision) and exchange.result is not None:
            complete.add(connection)


def _is_refused(exchange: Exchange, reply: Message | None, lacking: list[str]) -> bool:
    code = None if reply is None else reply.code
    if exchange.head is None:
        return code == INVALID_PARAMS
    # A version in the header and none in the body is also a mismatch; the specification gives no order.
    mismatch = VERSION_KEY in lacking and code == HEADER_MISMATCH
    return (code == INVALID_PARAMS or mismatch) and exchange.head.status == 400


_MEMBER: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*=[ \t]*[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*"
FORMATS: Final = {
    "traceparent": re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}.*"),
    "tracestate": re.compile(r"[ \t]*([a-z0-9][a-z0-9_\-*/@]*=[\x20-\x2b\x2d-\x3c\x3e-\x7e]+[ \t,]*)+"),
    "baggage": re.compile(rf"[ \t]*{_MEMBER}([ \t]*[,;][^,;]+)*[ \t]*"),
}
"""By W3C Trace Context and W3C Baggage; later versions of `traceparent` may be longer."""


@check(
    "Results name the server, and trace context has the W3C formats",
    requirements=("META-11", "META-13"),
    everywhere=True,
)
def judge_result_meta(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.result is not None and is_of_revision(exchange, trace.revision):
            meta = as_object(exchange.result.get("_meta"))
            named = isinstance(as_object(meta.get(SERVER_KEY)).get("name"), str)
            yield observe("META-11", named, exchange, expected=f"`_meta` with {SERVER_KEY}", observed="none")
    for message in trace.received:
        meta = as_object((message.result or message.params).get("_meta"))
        for key in FORMATS.keys() & meta.keys():
            valid = isinstance(meta[key], str) and FORMATS[key].fullmatch(meta[key]) is not None
            expected, observed = f"{key} in the W3C format", repr(meta[key])
            yield observe("META-13", valid, message, expected=expected, observed=observed)


CORE: Final = frozenset({"complete", "input_required"})


@check("Results have a known type", requirements=("BASE-17", "BASE-20", "VER-07"), everywhere=True)
def judge_result_type(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    extended = declared is None or declared.has("extensions")
    for exchange in trace.exchanges():
        if exchange.result is None or not is_of_revision(exchange, trace.revision):
            continue
        kind = exchange.result.get("resultType")
        typed, observed = isinstance(kind, str), f"resultType {kind!r}"
        yield observe("BASE-17", typed, exchange, expected="`resultType`", observed=exchange)
        if typed and not extended:
            expected = "a core type, since the server declares no extension"
            yield observe("BASE-20", kind in CORE, exchange, expected=expected, observed=observed)
        if typed and not capabilities_of(exchange).get("extensions"):
            expected = "a core type or an error, since the client declared no extension"
            yield observe("VER-07", kind in CORE, exchange, expected=expected, observed=observed)


# --- what the checks must catch


@on_request("takes missing fields from an earlier request", breaks="BASE-27")
def remembers_client(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if VERSION_KEY in meta and CAPABILITIES_KEY in meta:
        context.memory.update(meta)
    elif context.memory:
        params_of(message)["_meta"] = {**context.memory, **meta}
    return message


@on_reply("refuses a request without version or capabilities with -32600", breaks="META-08")
def meta_invalid_request(reply: Json, context: FaultContext) -> Json:
    if "error" in reply and not {VERSION_KEY, CAPABILITIES_KEY} <= context.meta.keys():
        reply["error"]["code"] = INVALID_REQUEST
    return reply


@on_request("serves a request without version or capabilities", breaks="META-08")
def meta_optional(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "server/discover":
        meta = {VERSION_KEY: context.revision.date, CAPABILITIES_KEY: {}, **meta_of(message)}
        message["params"] = {**params_of(message), "_meta": meta}
    return message


@on_response("refuses a request without capabilities with status 200", breaks="META-08")
def meta_status_ok(response: Response, context: FaultContext) -> None:
    if CAPABILITIES_KEY not in context.meta:
        response.status = 200


@on_result("names the server only in the result of `server/discover`", breaks="META-11")
def anonymous_results(result: Json, context: FaultContext) -> None:
    if context.method != "server/discover":
        result.pop("_meta", None)


@on_result("sends a UUID as `traceparent`", breaks="META-13")
def trace_as_uuid(result: Json, context: FaultContext) -> None:
    result.setdefault("_meta", {})["traceparent"] = "8f14e45f-ceea-467f-a8a1-2e1b0c9d4a3b"


@on_result("sends lists without `resultType`", breaks="BASE-17")
def no_result_type(result: Json, context: FaultContext) -> None:
    if context.method.endswith("/list"):
        result.pop("resultType", None)


@on_result("sends lists with the type `partial`, which no extension declares", breaks="BASE-20")
def own_result_type(result: Json, context: FaultContext) -> None:
    if context.method == "server/discover" and "capabilities" in result:
        result["capabilities"].pop("extensions", None)
    if context.method.endswith("/list") and "resultType" in result:
        result["resultType"] = "partial"


TIME: Final = "2026-01-01T00:00:00Z"
TASK: Final = {"taskId": "1", "status": "working", "createdAt": TIME, "lastUpdatedAt": TIME, "ttlMs": None}


@on_reply("answers a call with a task", breaks="VER-07", scenario="stateless.first-request")
def task_unasked(reply: Json, context: FaultContext) -> Json:
    called = context.method == "tools/call" and "result" in reply
    return {**reply, "result": {"resultType": "task", **TASK}} if called else reply
