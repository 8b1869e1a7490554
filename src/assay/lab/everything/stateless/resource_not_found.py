"""The error for a resource that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe, on_reply, result_reply
from assay.lab.harness.need import declares
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.self_description import as_object
from assay.model.error import INVALID_PARAMS, RESOURCE_NOT_FOUND

# --- what is asked


UNKNOWN = "test://nonexistent-resource-for-conformance-testing"


@official_scenario(
    "sep-2164-resource-not-found", "Read a resource that does not exist", needs=(declares("resources"),)
)
async def drive_sep_2164_resource_not_found(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("resources/list")
    for resource in stage.facts.resources[:1]:
        await peer.request("resources/read", {"uri": resource.get("uri")})
    await peer.request("resources/read", {"uri": UNKNOWN})


# --- how it is judged


EMPTY, CODE, URI = "sep-2164-no-empty-contents", "sep-2164-error-code", "sep-2164-data-uri"


@official_check(
    "sep-2164-resource-not-found",
    "A resource that does not exist is refused",
    requirements=(EMPTY, CODE, URI),
)
def judge_sep_2164_resource_not_found(trace: Trace) -> Iterator[Observation]:
    exchanges = [
        exchange for exchange in trace.exchanges("resources/list", "resources/read") if exchange.answer
    ]
    others = [exchange for exchange in exchanges if not _is_unknown(exchange)]
    # A server that can read nothing refuses for another reason.
    works = bool(others) and all(exchange.result is not None for exchange in others)
    for exchange in filter(_is_unknown, exchanges):
        empty = exchange.result is not None and exchange.items("contents") == []
        if works or empty:
            yield observe(EMPTY, not empty, exchange, expected="an error", observed=exchange)
        if works:
            yield from _judge_error(exchange)


def _judge_error(exchange: Exchange) -> Iterator[Observation]:
    expected = f"error {INVALID_PARAMS}"
    yield observe(CODE, exchange.code == INVALID_PARAMS, exchange, expected=expected, observed=exchange)
    uri = exchange.params.get("uri")
    error = exchange.answer.error if exchange.answer is not None else {}
    name = as_object(error.get("data")).get("uri")
    expected = f"an error whose `data.uri` is {uri}"
    yield observe(URI, name == uri, exchange, expected=expected, observed=f"{exchange}; {name!r}")


def _is_unknown(exchange: Exchange) -> bool:
    return "nonexistent" in str(exchange.params.get("uri"))


# --- what the checks must catch


@on_reply("does not name the resource in the error", breaks="sep-2164-data-uri")
def not_found_unnamed(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read":
        reply.get("error", {}).pop("data", None)
    return reply


@on_reply("answers an unknown resource with -32002", breaks="sep-2164-error-code")
def not_found_as_before(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "error" in reply:
        reply["error"]["code"] = RESOURCE_NOT_FOUND
    return reply


EMPTY_RESULT = {"resultType": "complete", "contents": [], "ttlMs": 0, "cacheScope": "private"}


@on_reply("answers an unknown resource with empty contents", breaks="sep-2164-no-empty-contents")
def nothing_there(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "error" in reply:
        return result_reply(reply, EMPTY_RESULT)
    return reply
