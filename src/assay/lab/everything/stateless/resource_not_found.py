"""The error for a resource that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe, on_reply
from assay.lab.harness.need import declares
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.self_description import as_object
from assay.model.error import INVALID_PARAMS, RESOURCE_NOT_FOUND

# --- what is asked


NOWHERE = "test://nonexistent-resource-for-conformance-testing"


@official_scenario(
    "sep-2164-resource-not-found", "A resource that does not exist", needs=(declares("resources"),)
)
async def drive_sep_2164_resource_not_found(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("resources/list")
    for resource in stage.facts.resources[:1]:
        await peer.request("resources/read", {"uri": resource.get("uri")})
    await peer.request("resources/read", {"uri": NOWHERE})


# --- how it is judged


SEP_2164_RESOURCE_NOT_FOUND_NOWHERE = "nonexistent"
"""In the address of what does not exist."""
EMPTY, CODE, URI = "sep-2164-no-empty-contents", "sep-2164-error-code", "sep-2164-data-uri"


@official_check(
    "sep-2164-resource-not-found",
    "A resource that does not exist is refused",
    requirements=(EMPTY, CODE, URI),
)
def judge_sep_2164_resource_not_found(trace: Trace) -> Iterator[Observation]:
    asked = [one for one in trace.exchanges("resources/list", "resources/read") if one.answer is not None]
    others = [one for one in asked if not _is_nowhere(one)]
    # Who can read nothing at all refuses for another reason.
    works = bool(others) and all(one.result is not None for one in others)
    for exchange in filter(_is_nowhere, asked):
        empty = exchange.result is not None and exchange.items("contents") == []
        if works or empty:
            yield observe(EMPTY, not empty, exchange, expected="an error", observed=exchange)
        if works:
            yield from _refusal(exchange)


def _refusal(exchange: Exchange) -> Iterator[Observation]:
    expected = f"error {INVALID_PARAMS}"
    yield observe(CODE, exchange.code == INVALID_PARAMS, exchange, expected=expected, observed=exchange)
    uri = exchange.params.get("uri")
    error = exchange.answer.error if exchange.answer is not None else {}
    named = as_object(error.get("data")).get("uri")
    expected = f"an error whose `data.uri` is {uri}"
    yield observe(URI, named == uri, exchange, expected=expected, observed=f"{exchange}; {named!r}")


def _is_nowhere(exchange: Exchange) -> bool:
    return SEP_2164_RESOURCE_NOT_FOUND_NOWHERE in str(exchange.params.get("uri"))


# --- what the checks must catch


@on_reply("an error does not name the resource that does not exist", breaks="sep-2164-data-uri")
def not_found_unnamed(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read":
        reply.get("error", {}).pop("data", None)
    return reply


@on_reply("a resource that does not exist gets -32002", breaks="sep-2164-error-code")
def not_found_as_before(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "error" in reply:
        reply["error"]["code"] = RESOURCE_NOT_FOUND
    return reply


NOTHING = {"resultType": "complete", "contents": [], "ttlMs": 0, "cacheScope": "private"}


@on_reply("a resource that does not exist has no contents", breaks="sep-2164-no-empty-contents")
def nothing_there(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "error" in reply:
        return {"jsonrpc": "2.0", "id": reply["id"], "result": NOTHING}
    return reply
