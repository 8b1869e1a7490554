"""Cache hints of results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fixture import A_LIST
from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    edited_results,
    error_reply,
    observe,
    on_reply,
    on_result,
)
from assay.lab.harness.subject.discovery import LISTS
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INTERNAL_ERROR

# --- what is asked


@official_scenario("caching", "Request every list and read a resource", needs=(A_LIST,))
async def drive_caching(stage: Stage) -> None:
    peer = await stage.open()
    for capability, method, _, _ in LISTS:
        if stage.facts.declares(capability):
            await peer.request(method)
    for resource in stage.facts.resources[:1]:
        await peer.request("resources/read", {"uri": resource.get("uri")})


# --- how it is judged


HINTS = {
    "tools/list": "sep-2549-tools-list-caching-hints",
    "prompts/list": "sep-2549-prompts-list-caching-hints",
    "resources/list": "sep-2549-resources-list-caching-hints",
    "resources/templates/list": "sep-2549-resources-templates-list-caching-hints",
    "resources/read": "sep-2549-resources-read-caching-hints",
}
TTL, SCOPE, ANSWERED = (
    "sep-2549-ttl-non-negative",
    "sep-2549-cache-scope-valid",
    "sep-2549-caching-connection",
)


@official_check(
    "caching", "Cacheable results have cache hints", requirements=(*HINTS.values(), TTL, SCOPE, ANSWERED)
)
def judge_caching(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges(*HINTS):
        if exchange.answer is not None:
            served = exchange.result is not None
            yield observe(ANSWERED, served, exchange, expected="a result", observed=exchange)
            yield from _hints(exchange)


def _hints(exchange: Exchange) -> Iterator[Observation]:
    result = exchange.result or {}
    absent = [key for key in ("ttlMs", "cacheScope") if key not in result]
    expected = "a result with `ttlMs` and `cacheScope`"
    observed = f"{exchange}; no {', '.join(absent)}"
    yield observe(HINTS[exchange.method], not absent, exchange, expected=expected, observed=observed)
    if "ttlMs" in result:
        ttl = result["ttlMs"]
        expected = "a whole number of 0 or more"
        yield observe(TTL, _is_count(ttl), exchange, expected=expected, observed=repr(ttl))
    if "cacheScope" in result:
        scope = result["cacheScope"]
        holds = scope in ("public", "private")
        yield observe(SCOPE, holds, exchange, expected="public or private", observed=repr(scope))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# --- what the checks must catch


@on_reply("answers a declared list with an error", breaks=ANSWERED)
def list_breaks_down(reply: Json, context: FaultContext) -> Json:
    is_list = context.method == "prompts/list"
    return error_reply(reply, INTERNAL_ERROR, "no prompts today") if is_list else reply


@on_result(
    "lists resources without cache hints",
    breaks="sep-2549-resources-list-caching-hints",
    method="resources/list",
)
def resources_without_hints(result: Json, context: FaultContext) -> None:
    for hint in ("ttlMs", "cacheScope"):
        result.pop(hint, None)


MISSING_HINTS: Final = tuple(
    saboteur
    for method, name, hint in (
        ("tools/list", "tools-without-hints", "cacheScope"),
        ("prompts/list", "prompts-without-ttl", "ttlMs"),
        ("resources/read", "contents-without-scope", "cacheScope"),
        ("resources/templates/list", "templates-without-ttl", "ttlMs"),
    )
    for saboteur in edited_results(
        method, (f"stateless.{name}", f"answers {method} without `{hint}`", HINTS[method], hint, ABSENT)
    )
)
WRONG_HINTS: Final = (
    *edited_results(
        "resources/list",
        ("stateless.cached-for-a-group", "returns `cacheScope: shared`", SCOPE, "cacheScope", "shared"),
    ),
    *edited_results("prompts/list", ("stateless.kept-for-ever", "returns `ttlMs: -1`", TTL, "ttlMs", -1)),
)
