"""Cache hints on lists and resources."""

from __future__ import annotations

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
    on_result,
    scenario,
)
from assay.lab.harness.driver.choice import NOWHERE, uris_of
from assay.lab.harness.subject.discovery import LISTS
from assay.lab.harness.trace.listing import listings
from assay.lab.suite.retry import wants_input
from assay.lab.suite.self_description import is_of_revision
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


@check("All pages of a list have the same cache scope", requirements=("CA-04",))
def judge_cache_pages(trace: Trace) -> Iterator[Observation]:
    for _, method, key, _ in LISTS:
        for listing in listings(trace, method, key):
            scopes = [str((page.result or {}).get("cacheScope")) for page in listing.pages if page.result]
            if len(scopes) > 1:
                same = len(set(scopes)) == 1
                yield observe("CA-04", same, listing, expected="one scope", observed=", ".join(scopes))


# --- what the checks must catch


@on_result("sends a resource without cache hints", breaks="CA-01", method="resources/read")
def reads_without_hints(result: Json, context: FaultContext) -> None:
    for key in ("ttlMs", "cacheScope"):
        result.pop(key, None)


@on_result("sends another `cacheScope` on the second page of a list", breaks="CA-04")
def scope_by_page(result: Json, context: FaultContext) -> None:
    if "cursor" in context.params:
        result["cacheScope"] = "private"


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
