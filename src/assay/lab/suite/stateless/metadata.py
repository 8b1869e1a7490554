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


@check("A request that lacks version or capabilities is refused", requirements=("META-08", "BASE-27"))
def judge_required_meta(trace: Trace) -> Iterator[Observation]:
    introduced: set[str] = set()
    for exchange in trace.exchanges():
        connection = exchange.request.frame.connection
        lacking = missing_fields(exchange, trace.revision)
        reply = reply_to(exchange, trace)
        if lacking and (reply is not None or exchange.head is not None):
            yield observe(
                "META-08",
                _is_refused(exchange, reply, lacking),
                exchange,
                expected=f"error {INVALID_PARAMS} (HTTP 400) for a request without {lacking[0]}",
                observed=outcome(exchange, reply),
            )
            if connection in introduced:
                expected = f"an error: an earlier request with {lacking[0]} does not stand in"
                yield observe(
                    "BASE-27", exchange.result is None, exchange, expected=expected, observed=exchange
                )
        elif is_of_revision(exchange, trace.revision) and exchange.result is not None:
            introduced.add(connection)


def _is_refused(exchange: Exchange, reply: Message | None, lacking: list[str]) -> bool:
    code = None if reply is None else reply.code
    if exchange.head is None:
        return code == INVALID_PARAMS
    # The header says a version and the body does not: that is a mismatch as well, and no order is given.
    differs = VERSION_KEY in lacking and code == HEADER_MISMATCH
    return (code == INVALID_PARAMS or differs) and exchange.head.status == 400


_MEMBER: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*=[ \t]*[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*"
FORMATS: Final = {
    "traceparent": re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}.*"),
    "tracestate": re.compile(r"[ \t]*([a-z0-9][a-z0-9_\-*/@]*=[\x20-\x2b\x2d-\x3c\x3e-\x7e]+[ \t,]*)+"),
    "baggage": re.compile(rf"[ \t]*{_MEMBER}([ \t]*[,;][^,;]+)*[ \t]*"),
}
"""By W3C Trace Context and W3C Baggage; a later version of `traceparent` may have more at its end."""


@check(
    "Results name their server, and traces by the W3C formats",
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
            value = meta[key]
            holds = isinstance(value, str) and FORMATS[key].fullmatch(value) is not None
            yield observe(
                "META-13", holds, message, expected=f"{key} as the W3C writes it", observed=repr(value)
            )


CORE: Final = frozenset({"complete", "input_required"})


@check("Results say what kind they are", requirements=("BASE-17", "BASE-20", "VER-07"), everywhere=True)
def judge_result_type(trace: Trace) -> Iterator[Observation]:
    said = declaration(trace)
    extended = said is None or said.has("extensions")
    for exchange in trace.exchanges():
        if exchange.result is None or not is_of_revision(exchange, trace.revision):
            continue
        kind = exchange.result.get("resultType")
        named = isinstance(kind, str)
        yield observe("BASE-17", named, exchange, expected="`resultType`", observed=exchange)
        if isinstance(kind, str) and not extended:
            expected = "a core result: the server declares no extension that could add another"
            yield observe(
                "BASE-20", kind in CORE, exchange, expected=expected, observed=f"resultType {kind!r}"
            )
        if isinstance(kind, str) and not capabilities_of(exchange).get("extensions"):
            expected = "a core result, or an error: the client declared no extension"
            yield observe(
                "VER-07", kind in CORE, exchange, expected=expected, observed=f"resultType {kind!r}"
            )


# --- what the checks must catch


@on_request("what a request lacks is taken from an earlier one", breaks="BASE-27")
def remembers_client(message: Json, context: FaultContext) -> Json:
    meta = meta_of(message)
    if VERSION_KEY in meta and CAPABILITIES_KEY in meta:
        context.memory.update(meta)
    elif context.memory:
        params_of(message)["_meta"] = {**context.memory, **meta}
    return message


@on_reply("a request without version or capabilities gets -32600", breaks="META-08")
def meta_invalid_request(reply: Json, context: FaultContext) -> Json:
    meta = context.meta
    if "error" in reply and not {VERSION_KEY, CAPABILITIES_KEY} <= meta.keys():
        reply["error"]["code"] = INVALID_REQUEST
    return reply


@on_request("a request without version or capabilities is served", breaks="META-08")
def meta_optional(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "server/discover":
        meta = {VERSION_KEY: context.revision.date, CAPABILITIES_KEY: {}, **meta_of(message)}
        message["params"] = {**params_of(message), "_meta": meta}
    return message


@on_response("a request without capabilities is refused with status 200", breaks="META-08")
def meta_status_ok(response: Response, context: FaultContext) -> None:
    if CAPABILITIES_KEY not in context.meta:
        response.status = 200


@on_reply("results other than discovery's do not name the server", breaks="META-11")
def anonymous_results(reply: Json, context: FaultContext) -> Json:
    if context.method != "server/discover" and "result" in reply:
        reply["result"].pop("_meta", None)
    return reply


@on_reply("`traceparent` is a UUID", breaks="META-13")
def trace_as_uuid(reply: Json, context: FaultContext) -> Json:
    if "result" in reply:
        reply["result"].setdefault("_meta", {})["traceparent"] = "8f14e45f-ceea-467f-a8a1-2e1b0c9d4a3b"
    return reply


@on_reply("lists have no `resultType`", breaks="BASE-17")
def no_result_type(reply: Json, context: FaultContext) -> Json:
    if context.method.endswith("/list") and "result" in reply:
        reply["result"].pop("resultType", None)
    return reply


@on_reply("lists are `partial`, a type that no extension declares", breaks="BASE-20")
def own_result_type(reply: Json, context: FaultContext) -> Json:
    result = reply.get("result", {})
    if context.method == "server/discover" and "capabilities" in result:
        result["capabilities"].pop("extensions", None)
    if context.method.endswith("/list") and "resultType" in result:
        result["resultType"] = "partial"
    return reply


@on_reply("a call is answered with a task", breaks="VER-07", scenario="stateless.first-request")
def task_unasked(reply: Json, context: FaultContext) -> Json:
    if context.method != "tools/call" or "result" not in reply:
        return reply
    made = "2026-01-01T00:00:00Z"
    task = {"taskId": "1", "status": "working", "createdAt": made, "lastUpdatedAt": made, "ttlMs": None}
    return {**reply, "result": {"resultType": "task", **task}}
