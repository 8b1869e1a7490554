"""Cache hints on lists and resources."""

from __future__ import annotations

from collections.abc import Iterator
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
from assay.lab.harness.driver.choice import NOWHERE, uris_of
from assay.lab.harness.subject.discovery import LISTS
from assay.lab.harness.trace.listing import listings
from assay.lab.suite.retry import wants_input
from assay.lab.suite.self_description import is_of_revision
from assay.revisions.revision import Results

# --- what is asked


@scenario(
    "Results for caches",
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


@check("Results that may be cached say how", requirements=("CA-01", "CA-03"), everywhere=True)
def judge_cache_hints(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges(*trace.revision.cacheable):
        result = exchange.result
        if result is None or wants_input(exchange) or not is_of_revision(exchange, trace.revision):
            continue
        ttl, scope = result.get("ttlMs"), result.get("cacheScope")
        hinted = _is_whole(ttl) and scope in ("public", "private")
        expected = "`ttlMs` in whole milliseconds, and `cacheScope` public or private"
        yield observe("CA-01", hinted, exchange, expected=expected, observed=f"{ttl!r} and {scope!r}")
        if isinstance(ttl, int):
            yield observe("CA-03", ttl >= 0, exchange, expected="`ttlMs` of 0 or more", observed=ttl)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


LISTED: Final = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


@check("All pages of a list have one cache scope", requirements=("CA-04",))
def judge_cache_pages(trace: Trace) -> Iterator[Observation]:
    for method, key in LISTED.items():
        for listing in listings(trace, method, key):
            scopes = [str((page.result or {}).get("cacheScope")) for page in listing.pages if page.result]
            if len(scopes) > 1:
                holds = len(set(scopes)) == 1
                yield observe("CA-04", holds, listing, expected="one scope", observed=", ".join(scopes))


# --- what the checks must catch


@on_reply("a list has no `ttlMs`", breaks="CA-01")
def no_ttl(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list":
        reply.get("result", {}).pop("ttlMs", None)
    return reply


@on_reply("what a resource holds comes without hints for caches", breaks="CA-01")
def reads_without_hints(reply: Json, context: FaultContext) -> Json:
    for key in ("ttlMs", "cacheScope"):
        if context.method == "resources/read":
            reply.get("result", {}).pop(key, None)
    return reply


@on_reply("`cacheScope` is `shared`", breaks="CA-01")
def unknown_scope(reply: Json, context: FaultContext) -> Json:
    if "cacheScope" in reply.get("result", {}):
        reply["result"]["cacheScope"] = "shared"
    return reply


@on_reply("`ttlMs` is -1", breaks="CA-03")
def ttl_for_ever(reply: Json, context: FaultContext) -> Json:
    if "ttlMs" in reply.get("result", {}):
        reply["result"]["ttlMs"] = -1
    return reply


@on_reply("the second page of a list has another `cacheScope`", breaks="CA-04")
def scope_by_page(reply: Json, context: FaultContext) -> Json:
    if "cursor" in context.params and "result" in reply:
        reply["result"]["cacheScope"] = "private"
    return reply
