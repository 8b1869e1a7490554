"""Reading resources: their contents, encodings and URIs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
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
    error_reply,
    observe,
    on_reply,
    on_result,
    scenario,
)
from assay.lab.harness.driver.choice import NOWHERE, uris_of
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.need import A_RESOURCE
from assay.lab.harness.trace.listing import Listing, declaration, listings
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.suite.content_block import is_base64
from assay.lab.suite.list_offer import overlap
from assay.lab.suite.self_description import is_usual
from assay.model.error import INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Opening, Revision

# --- what is asked


@scenario(
    "List and read resources",
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
"""How often differing lists are read by turns: a list may change, but not in step with the driver."""


@scenario("List resources on two connections", exercises=("resources.same-for-all",), needs=(A_RESOURCE,))
async def drive_two_connections(stage: Stage) -> None:
    first, second = await stage.open(), await stage.open()
    await _list_uris(first)
    for uri in (*uris_of(stage.facts)[:1], NOWHERE):
        await first.request("resources/read", {"uri": uri})
    for _ in range(ROUNDS):
        if await _list_uris(first) == await _list_uris(second):
            break


async def _list_uris(peer: Peer) -> set[str]:
    items = await peer.pages("resources/list", "resources")
    return {str(item.get("uri")) for item in items if isinstance(item, dict)}


# --- how it is judged


@check(
    "Resources are declared, and can be listed if they are", requirements=("RS-01", "RS-05"), everywhere=True
)
def judge_declared(trace: Trace) -> Iterator[Observation]:
    declaring = declaration(trace)
    if declaring is None:
        return
    declared = "resources" in declaring.capabilities
    for exchange in trace.exchanges("resources/list"):
        if exchange.answer is None or "cursor" in exchange.params:
            continue
        listed, names = len(exchange.objects("resources")), ", ".join(declaring.capabilities) or "nothing"
        holds, expected = declared or not listed, "`resources` among the declared capabilities"
        observed = f"{listed} resources, declared: {names}"
        yield observe("RS-01", holds, declaring, exchange, expected=expected, observed=observed)
        if declared and is_usual(exchange, trace):
            is_list = isinstance((exchange.result or {}).get("resources"), list)
            yield observe("RS-05", is_list, exchange, expected="a list of resources", observed=exchange)


# Codes that blame the client for a valid request, or have no meaning.
MISPLACED: Final = frozenset({PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, 0})


@check("Contents of resources are complete", requirements=("RS-19", "RS-11"), everywhere=True)
def judge_contents(trace: Trace) -> Iterator[Observation]:
    pages = trace.exchanges("resources/list")
    listed = [item.get("uri") for page in pages for item in page.objects("resources")]
    for exchange in trace.exchanges("resources/read"):
        uri = str(exchange.params.get("uri"))
        if exchange.result is not None and exchange.result.get("resultType", "complete") == "complete":
            problem = _problem(exchange.result.get("contents"))
            expected = "a list of contents, each with its uri and either text or blob"
            yield observe("RS-19", problem is None, exchange, expected=expected, observed=problem)
        elif uri in listed and isinstance(exchange.code, int) and is_usual(exchange, trace):
            # A listed resource that cannot be read is an internal failure.
            valid = exchange.code not in MISPLACED
            yield observe("RS-11", valid, exchange, expected="error -32603", observed=exchange)


def _problem(contents: Any) -> str | None:
    if not isinstance(contents, list):
        return f"`contents` is {type(contents).__name__}"
    return next((problem for item in contents if (problem := _item_problem(item))), None)


def _item_problem(item: Any) -> str | None:
    if not isinstance(item, dict):
        return f"an item of `contents` is {type(item).__name__}"
    if not isinstance(item.get("uri"), str):
        return "an item of `contents` has no `uri`"
    keys = [key for key in ("text", "blob") if isinstance(item.get(key), str)]
    names = " and ".join(keys) or "neither text nor blob"
    return None if len(keys) == 1 else f"an item of `contents` has {names}"


@check("Binary contents are valid Base64", requirements=("RS-14",), everywhere=True)
def judge_blobs(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/read"):
        for blob in (item["blob"] for item in exchange.objects("contents") if "blob" in item):
            yield observe("RS-14", is_base64(blob), exchange, expected="Base64", observed=repr(blob)[:60])


# These schemes are defined elsewhere, so the rule about custom schemes does not apply.
STANDARD: Final = re.compile(r"(https?|file|git|ftp|data|urn|mailto):", re.IGNORECASE)
URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")


@check("URIs with custom schemes follow RFC 3986", requirements=("RS-18",), everywhere=True)
def judge_uri_syntax(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/list"):
        for uri in (item.get("uri") for item in exchange.objects("resources")):
            if isinstance(uri, str):
                valid = STANDARD.match(uri) is not None or URI.fullmatch(uri) is not None
                expected, observed = "scheme:rest by RFC 3986", repr(uri[:120])
                yield observe("RS-18", valid, exchange, expected=expected, observed=observed)


@check("All connections list the same resources", requirements=("RS-06",), everywhere=True)
def judge_same_for_all(trace: Trace) -> Iterator[Observation]:
    by_connection: dict[str, list[Listing]] = defaultdict(list)
    for listing in listings(trace, "resources/list", "resources"):
        if listing.complete:
            by_connection[listing.connection].append(listing)
    if len(by_connection) < 2:
        return
    first, second, *_ = by_connection.values()
    differing = ", ".join(sorted(_uris(first[-1]) ^ _uris(second[-1])))
    steady = _is_steady(first) and _is_steady(second) and overlap(first[-2:], second[-2:])
    if not differing or steady:
        expected = "the same resources on both connections"
        observed = f"only one connection lists {differing}, each time"
        yield observe("RS-06", not differing, first[-1], second[-1], expected=expected, observed=observed)


def _uris(listing: Listing) -> frozenset[str]:
    return frozenset(str(item.get("uri")) for item in listing.items)


def _is_steady(readings: list[Listing]) -> bool:
    return len(readings) >= ROUNDS and len({_uris(listing) for listing in readings[-ROUNDS:]}) == 1


# --- what the checks must catch


def _newest(revision: Revision) -> bool:
    return revision is REVISIONS[-1]


def _edit(items: list[Json], key: str, change: Callable[[str], Any]) -> None:
    for item in items:
        if key in item:
            item[key] = change(item[key])


@on_reply("does not implement `resources/list`, although `resources` is declared", breaks="RS-05")
def list_unimplemented(reply: Json, context: FaultContext) -> Json:
    lists = context.method == "resources/list"
    return error_reply(reply, METHOD_NOT_FOUND, "Method not found") if lists else reply


@on_reply("reports a failed read as error 0", breaks="RS-11")
def failure_code(reply: Json, context: FaultContext) -> Json:
    read = context.method == "resources/read" and "result" in reply
    return error_reply(reply, 0, "[Errno 5] Input/output error") if read else reply


@on_result("sends `contents` without `uri`", breaks="RS-19", method="resources/read")
def no_uri(result: Json, context: FaultContext) -> None:
    for item in result["contents"]:
        del item["uri"]


@on_result("sends `contents` as an object", breaks="RS-19", method="resources/read", window=_newest)
def one_content(result: Json, context: FaultContext) -> None:
    result["contents"] = result["contents"][0]


@on_result("sends `text` as an object", breaks="RS-19", method="resources/read", window=_newest)
def text_as_object(result: Json, context: FaultContext) -> None:
    _edit(result["contents"], "text", lambda text: {"lines": text.splitlines()})


@on_result("sends `blob` as a data URI", breaks="RS-14", method="resources/read", window=_newest)
def blob_data_uri(result: Json, context: FaultContext) -> None:
    _edit(result["contents"], "blob", lambda blob: f"data:image/png;base64,{blob}")


@on_result("sends `blob` as base64url", breaks="RS-14", method="resources/read", window=_newest)
def blob_for_urls(result: Json, context: FaultContext) -> None:
    _edit(result["contents"], "blob", lambda blob: blob.replace("+", "-").replace("/", "_"))


@on_result("sends `blob` as a Python literal", breaks="RS-14", method="resources/read")
def blob_repr(result: Json, context: FaultContext) -> None:
    _edit(result["contents"], "blob", lambda blob: repr(blob.encode()))


@on_result("lists URIs without a scheme", breaks="RS-18", method="resources/list", window=_newest)
def bare_names(result: Json, context: FaultContext) -> None:
    _edit(result["resources"], "uri", lambda uri: uri.rpartition("/")[2])


@on_result("lists URIs with an underscore in the scheme", breaks="RS-18", method="resources/list")
def scheme_underscore(result: Json, context: FaultContext) -> None:
    _edit(result["resources"], "uri", lambda uri: uri.replace("file:", "my_files:"))


@on_reply("no longer lists what was read on the connection", breaks="RS-06", transports=STDIO_ONLY)
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
    ("resources.undeclared", "does not declare `resources`", "RS-01", "capabilities.resources", ABSENT),
)
