"""Reading resources: their contents, encodings and URIs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

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
    scenario,
)
from assay.lab.harness.driver.choice import NOWHERE, uris_of
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.need import A_RESOURCE
from assay.lab.harness.trace.listing import Listing, declaration, listings
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.suite.content_block import is_base64
from assay.model.error import INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Opening

# --- what is asked


@scenario(
    "Resources, listed and read",
    exercises=("resources.declared", "resources.contents", "resources.blobs", "resources.uri-syntax"),
    official="resources-list",
)
async def drive_reading(stage: Stage) -> None:
    peer = await stage.open()
    if stage.revision.opening is Opening.PER_REQUEST:
        await peer.request("server/discover")
    await peer.pages("resources/list", "resources")
    for uri in uris_of(stage.facts):
        await peer.request("resources/read", {"uri": uri})


ROUNDS: Final = 3
"""How often both lists are read when they differ: a list may change over time, but not in step with us."""


@scenario("Resources on two connections", exercises=("resources.same-for-all",), needs=(A_RESOURCE,))
async def drive_two_connections(stage: Stage) -> None:
    one, other = await stage.open(), await stage.open()
    await _uris(one)
    for uri in (*uris_of(stage.facts)[:1], NOWHERE):
        await one.request("resources/read", {"uri": uri})
    for _ in range(ROUNDS):
        if await _uris(one) == await _uris(other):
            break


async def _uris(peer: Peer) -> set[Any]:
    items = await peer.pages("resources/list", "resources")
    return {str(item.get("uri")) for item in items if isinstance(item, dict)}


# --- how it is judged


@check("Resources are declared, and listed when they are", requirements=("RS-01", "RS-05"))
def judge_declared(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    if declared is None:
        return
    has = "resources" in declared.capabilities
    for exchange in trace.exchanges("resources/list"):
        if exchange.answer is None or "cursor" in exchange.params:
            continue
        listed = exchange.objects("resources")
        yield observe(
            "RS-01",
            has or not listed,
            declared,
            exchange,
            expected="the capability `resources`, since there are resources",
            observed=f"{len(listed)} resources, and {', '.join(declared.capabilities) or 'nothing'} declared",
        )
        if has:
            is_list = isinstance((exchange.result or {}).get("resources"), list)
            yield observe("RS-05", is_list, exchange, expected="a list of resources", observed=exchange)


# Codes that blame the client for something that it did not do, or that mean nothing.
MISPLACED: Final = frozenset({PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, 0})


@check("Contents of resources are complete", requirements=("RS-19", "RS-11"))
def judge_contents(trace: Trace) -> Iterator[Observation]:
    listed = {
        item.get("uri")
        for page in trace.exchanges("resources/list")
        for item in page.objects("resources")
        if isinstance(item.get("uri"), str)
    }
    for exchange in trace.exchanges("resources/read"):
        uri = exchange.params.get("uri")
        if exchange.result is not None and exchange.result.get("resultType", "complete") == "complete":
            problem = _problem(exchange)
            expected = "a list of contents, each with its uri and either text or blob"
            yield observe("RS-19", problem is None, exchange, expected=expected, observed=problem)
        elif isinstance(uri, str) and uri in listed and isinstance(exchange.code, int):
            # A listed resource that cannot be read: something went wrong inside.
            holds = exchange.code not in MISPLACED
            yield observe("RS-11", holds, exchange, expected="error -32603", observed=exchange)


def _problem(exchange: Exchange) -> str | None:
    contents = (exchange.result or {}).get("contents")
    if not isinstance(contents, list):
        return f"`contents` is {type(contents).__name__}"
    return next((told for item in contents if (told := _wrong(item))), None)


def _wrong(item: Any) -> str | None:
    if not isinstance(item, dict):
        return f"an item of `contents` is {type(item).__name__}"
    if not isinstance(item.get("uri"), str):
        return "an item of `contents` has no `uri`"
    held = [key for key in ("text", "blob") if isinstance(item.get(key), str)]
    return (
        None
        if len(held) == 1
        else f"an item of `contents` has {' and '.join(held) or 'neither text nor blob'}"
    )


@check("Binary contents are valid Base64", requirements=("RS-14",))
def judge_blobs(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/read"):
        for item in exchange.objects("contents"):
            if "blob" in item:
                told = repr(item["blob"])[:60]
                yield observe("RS-14", is_base64(item["blob"]), exchange, expected="Base64", observed=told)


# Defined elsewhere, so not custom: what follows them is not for this rule to judge.
STANDARD: Final = re.compile(r"(https?|file|git|ftp|data|urn|mailto):", re.IGNORECASE)
URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")


@check("URIs with schemes of the server's own follow RFC 3986", requirements=("RS-18",))
def judge_uri_syntax(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/list"):
        for item in exchange.objects("resources"):
            uri = item.get("uri")
            if isinstance(uri, str):
                holds = STANDARD.match(uri) is not None or URI.fullmatch(uri) is not None
                yield observe(
                    "RS-18", holds, exchange, expected="scheme:rest by RFC 3986", observed=repr(uri[:120])
                )


SAME_FOR_ALL_ROUNDS: Final = 3
"""Readings in turn that must agree with themselves and not with each other: a list may change over time."""


@check("All connections see the same resources", requirements=("RS-06",))
def judge_same_for_all(trace: Trace) -> Iterator[Observation]:
    by_connection: dict[str, list[Listing]] = defaultdict(list)
    for listing in listings(trace, "resources/list", "resources"):
        if listing.complete:
            by_connection[listing.connection].append(listing)
    if len(by_connection) < 2:
        return
    one, other, *_ = by_connection.values()
    if _same_for_all_uris(one[-1]) == _same_for_all_uris(other[-1]):
        yield observe("RS-06", True, one[-1], other[-1], expected="the same set", observed="the same set")
    elif _steady(one) and _steady(other):
        differing = ", ".join(sorted(_same_for_all_uris(one[-1]) ^ _same_for_all_uris(other[-1])))
        yield observe(
            "RS-06",
            False,
            one[-1],
            other[-1],
            expected="the same resources on both connections",
            observed=f"only one of them has {differing}, each time",
        )


def _same_for_all_uris(listing: Listing) -> frozenset[str]:
    return frozenset(str(item.get("uri")) for item in listing.items)


def _steady(read: list[Listing]) -> bool:
    return (
        len(read) >= SAME_FOR_ALL_ROUNDS
        and len({_same_for_all_uris(one) for one in read[-SAME_FOR_ALL_ROUNDS:]}) == 1
    )


# --- what the checks must catch


@on_reply("`resources/list` is not implemented, though `resources` is declared", breaks="RS-05")
def list_unimplemented(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/list":
        return reply
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": reply["id"], "error": error}


@on_reply("a failed read gets code 0", breaks="RS-11")
def failure_code(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/read" or "result" not in reply:
        return reply
    return {
        "jsonrpc": "2.0",
        "id": reply["id"],
        "error": {"code": 0, "message": "[Errno 5] Input/output error"},
    }


@on_reply("items of `contents` have no `uri`", breaks="RS-19")
def no_uri(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("contents", ()):
        del item["uri"]
    return reply


@on_reply("`contents` is no list", breaks="RS-19", window=lambda revision: revision is REVISIONS[-1])
def one_content(reply: Json, context: FaultContext) -> Json:
    if contents := reply.get("result", {}).get("contents"):
        reply["result"]["contents"] = contents[0]
    return reply


@on_reply("`text` is an object", breaks="RS-19", window=lambda revision: revision is REVISIONS[-1])
def text_as_object(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("contents", ()):
        if "text" in item:
            item["text"] = {"lines": item["text"].splitlines()}
    return reply


@on_reply("`blob` is a data URI", breaks="RS-14", window=lambda revision: revision is REVISIONS[-1])
def blob_data_uri(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("contents", ()):
        if "blob" in item:
            item["blob"] = f"data:image/png;base64,{item['blob']}"
    return reply


@on_reply("`blob` is base64url", breaks="RS-14", window=lambda revision: revision is REVISIONS[-1])
def blob_for_urls(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("contents", ()):
        if "blob" in item:
            item["blob"] = item["blob"].replace("+", "-").replace("/", "_")
    return reply


@on_reply("`blob` is the notation of bytes in a programming language", breaks="RS-14")
def blob_repr(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("contents", ()):
        if "blob" in item:
            item["blob"] = repr(item["blob"].encode())
    return reply


@on_reply("URIs have no scheme", breaks="RS-18", window=lambda revision: revision is REVISIONS[-1])
def bare_names(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("resources", ()):
        item["uri"] = item["uri"].rpartition("/")[2]
    return reply


@on_reply("a scheme has an underscore in it", breaks="RS-18")
def scheme_underscore(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("resources", ()):
        item["uri"] = item["uri"].replace("file:", "my_files:")
    return reply


@on_reply("what was read on a connection is not listed there any more", breaks="RS-06", transports=STDIO_ONLY)
def read_and_gone(reply: Json, context: FaultContext) -> Json:
    read: list[object] = context.memory.setdefault("read", [])
    if context.method == "resources/read":
        read.append(context.params.get("uri"))
    if context.method == "resources/list" and "result" in reply:
        listed = reply["result"]["resources"]
        reply["result"]["resources"] = [item for item in listed if item["uri"] not in read]
    return reply


RESULT_EDITS: Final = edited_results(
    ("initialize", "server/discover"),
    (
        "resources.undeclared",
        "the capability `resources` is not declared",
        "RS-01",
        "capabilities.resources",
        ABSENT,
    ),
)
