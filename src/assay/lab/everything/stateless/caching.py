"""Cache hints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    edited_results,
    observe,
    on_reply,
    on_result,
)
from assay.lab.harness.need import Need
from assay.lab.harness.subject.discovery import LISTS
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INTERNAL_ERROR

# --- what is asked


SOMETHING = Need(lambda facts: any(facts.declares(one) for one, *_ in LISTS), "declares nothing to list")


@official_scenario("caching", "Results that may be kept say how", needs=(SOMETHING,))
async def drive_caching(stage: Stage) -> None:
    peer = await stage.open()
    for capability, method, _, _ in LISTS:
        if stage.facts.declares(capability):
            await peer.request(method)
    for resource in stage.facts.resources[:1]:
        await peer.request("resources/read", {"uri": resource.get("uri")})


# --- how it is judged


ROWS = {
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
    "caching", "Results that may be kept say how", requirements=(*ROWS.values(), TTL, SCOPE, ANSWERED)
)
def judge_caching(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges(*ROWS):
        if exchange.answer is not None:
            served = exchange.result is not None
            yield observe(ANSWERED, served, exchange, expected="a result", observed=exchange)
            yield from _hints(exchange)


def _hints(exchange: Exchange) -> Iterator[Observation]:
    result = exchange.result or {}
    absent = [key for key in ("ttlMs", "cacheScope") if key not in result]
    expected = "a result with `ttlMs` and `cacheScope`"
    observed = f"{exchange}; no {', '.join(absent)}"
    yield observe(ROWS[exchange.method], not absent, exchange, expected=expected, observed=observed)
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


@on_reply("the list of prompts is declared, and an error", breaks="sep-2549-caching-connection")
def list_breaks_down(reply: Json, context: FaultContext) -> Json:
    if context.method != "prompts/list":
        return reply
    return {
        "jsonrpc": "2.0",
        "id": reply["id"],
        "error": {"code": INTERNAL_ERROR, "message": "no prompts today"},
    }


@on_result(
    "the list of resources has no hints for caches",
    breaks="sep-2549-resources-list-caching-hints",
    method="resources/list",
)
def resources_without_hints(result: Json, context: FaultContext) -> None:
    for hint in ("ttlMs", "cacheScope"):
        result.pop(hint, None)


@on_reply("the list of tools has no `cacheScope`", breaks="sep-2549-tools-list-caching-hints")
def tools_without_hints(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list":
        reply.get("result", {}).pop("cacheScope", None)
    return reply


@on_result("`ttlMs` is -1", breaks="sep-2549-ttl-non-negative", method="prompts/list")
def kept_for_ever(result: Json, context: FaultContext) -> None:
    result["ttlMs"] = -1


RESULT_EDITS: Final = (
    *edited_results(
        "resources/list",
        (
            "stateless.cached-for-a-group",
            "`cacheScope` is `shared`",
            "sep-2549-cache-scope-valid",
            "cacheScope",
            "shared",
        ),
    ),
    *edited_results(
        "prompts/list",
        (
            "stateless.prompts-without-ttl",
            "the list of prompts has no `ttlMs`",
            "sep-2549-prompts-list-caching-hints",
            "ttlMs",
            ABSENT,
        ),
    ),
    *edited_results(
        "resources/read",
        (
            "stateless.contents-without-scope",
            "what is read has no `cacheScope`",
            "sep-2549-resources-read-caching-hints",
            "cacheScope",
            ABSENT,
        ),
    ),
    *edited_results(
        "resources/templates/list",
        (
            "stateless.templates-without-ttl",
            "the list of templates has no `ttlMs`",
            "sep-2549-resources-templates-list-caching-hints",
            "ttlMs",
            ABSENT,
        ),
    ),
)
