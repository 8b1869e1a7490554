"""Results: their type, `_meta` and cache hints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    edited_results,
    observe,
    on_reply,
    on_result,
    scenario,
)
from assay.lab.harness.driver.choice import NOWHERE, uris_of
from assay.lab.harness.driver.message_meta import SERVER_KEY
from assay.lab.harness.subject.discovery import LISTS
from assay.lab.harness.trace.listing import declaration, listings
from assay.lab.suite.retry import wants_input
from assay.lab.suite.self_description import as_object, capabilities_of, is_of_revision
from assay.revisions.registry import PER_REQUEST
from assay.revisions.revision import Results

# --- what is asked


@scenario(
    "Read lists and resources, which may be cached",
    exercises=(
        "stateless.cache-hints",
        "stateless.cache-pages",
        "stateless.result-type",
        "stateless.result-meta",
        "stateless.input-required",
        "stateless.retired-codes",
    ),
    window=lambda revision: revision.results is Results.TYPED,
    official="caching",
)
async def drive_lists(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("server/discover")
    for capability, method, key, _ in LISTS:
        if stage.facts.declares(capability):
            await peer.pages(method, key)
    if stage.facts.declares("resources"):
        for uri in (*uris_of(stage.facts)[:1], NOWHERE):
            await peer.request("resources/read", {"uri": uri})


# --- how it is judged


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


@check("Cacheable results have cache hints", requirements=("CA-01", "CA-03"), everywhere=True)
def judge_cache_hints(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges(*trace.revision.cacheable):
        result = exchange.result
        if result is None or wants_input(exchange) or not is_of_revision(exchange, trace.revision):
            continue
        ttl, scope = result.get("ttlMs"), result.get("cacheScope")
        hinted = type(ttl) is int and scope in ("public", "private")
        expected = "`ttlMs` in whole milliseconds, and `cacheScope` public or private"
        yield observe("CA-01", hinted, exchange, expected=expected, observed=f"{ttl!r} and {scope!r}")
        if isinstance(ttl, int):
            yield observe("CA-03", ttl >= 0, exchange, expected="`ttlMs` of 0 or more", observed=ttl)


@check("All pages of a list have the same cache scope", requirements=("CA-04",), everywhere=True)
def judge_cache_pages(trace: Trace) -> Iterator[Observation]:
    for _, method, key, _ in LISTS:
        for listing in listings(trace, method, key):
            scopes = [str((page.result or {}).get("cacheScope")) for page in listing.pages if page.result]
            if len(scopes) > 1:
                same = len(set(scopes)) == 1
                yield observe("CA-04", same, listing, expected="one scope", observed=", ".join(scopes))


# --- what the checks must catch


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


@on_result("sends a resource without cache hints", breaks="CA-01", method="resources/read")
def reads_without_hints(result: Json, context: FaultContext) -> None:
    for key in ("ttlMs", "cacheScope"):
        result.pop(key, None)


@on_result("sends another `cacheScope` on the second page of a list", breaks="CA-04")
def scope_by_page(result: Json, context: FaultContext) -> None:
    if "cursor" in context.params:
        result["cacheScope"] = "public" if result.get("cacheScope") == "private" else "private"


RESULT_EDITS: Final = (
    *edited_results(
        "tools/list", ("stateless.no-ttl", "sends a list without `ttlMs`", "CA-01", "ttlMs", ABSENT)
    ),
    *edited_results(
        tuple(PER_REQUEST[-1].cacheable),
        ("stateless.unknown-scope", "sends `shared` as `cacheScope`", "CA-01", "cacheScope", "shared"),
        ("stateless.ttl-for-ever", "sends -1 as `ttlMs`", "CA-03", "ttlMs", -1),
    ),
)
