"""URIs that name no resource, or try to leave their root."""

from __future__ import annotations

import re
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
from assay.lab.harness.need import Need, declares
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND
from assay.revisions.revision import Opening

# --- what is asked


NO_URIS: Final[tuple[dict[str, Any], ...]] = ({"uri": "no uri at all"}, {"uri": ""}, {"uri": 42}, {})


@scenario(
    "Resources that do not exist",
    exercises=("resources.unknown", "resources.validated-uris"),
    needs=(declares("resources"),),
    official="sep-2164-resource-not-found",
)
async def drive_unknown(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("resources/templates/list", "resourceTemplates")
    for uri in uris_of(stage.facts)[:1]:
        await peer.request("resources/read", {"uri": uri})
    await peer.request("resources/read", {"uri": NOWHERE})
    await peer.request("resources/read", {"uri": f"{NOWHERE}/of-the-lab.txt"})
    for params in NO_URIS:
        await peer.request("resources/read", params)


HIGH: Final = 12
"""Steps up: more than any path is deep."""
STEPS: Final = ("../", "%2e%2e/", "..%2f")


def file_uris(facts: Facts) -> list[str]:
    return [uri for uri in uris_of(facts) if uri.startswith("file:///")]


A_FILE: Final = Need(lambda facts: bool(file_uris(facts)), "lists no file:// resources")


@scenario("Paths that lead out", exercises=("resources.traversal",), needs=(A_FILE,))
async def drive_traversal(stage: Stage) -> None:
    peer = await stage.open()
    known = file_uris(stage.facts)[0]
    await peer.request("resources/read", {"uri": known})
    await peer.request("resources/read", {"uri": "file:///etc/hosts"})
    for step in STEPS:
        await peer.request("resources/read", {"uri": f"{known.rpartition('/')[0]}/{step * HIGH}etc/hosts"})


# --- how it is judged


@check("A resource that does not exist is refused", requirements=("RS-07", "RS-08", "RS-09"))
def judge_unknown(trace: Trace) -> Iterator[Observation]:
    if _anything_goes(trace):
        return
    for exchange in trace.exchanges("resources/read"):
        uri = exchange.params.get("uri")
        if not isinstance(uri, str) or not uri.startswith(NOWHERE) or exchange.answer is None:
            continue
        for row, code in (("RS-07", RESOURCE_NOT_FOUND), ("RS-08", INVALID_PARAMS)):
            yield observe(row, exchange.code == code, exchange, expected=f"error {code}", observed=exchange)
        empty = exchange.result is not None and exchange.result.get("contents") == []
        yield observe("RS-09", not empty, exchange, expected="no empty `contents`", observed=exchange)


def _anything_goes(trace: Trace) -> bool:
    """Whether a template takes any URI: then nobody can say that there is nothing."""
    templates = (
        item.get("uriTemplate")
        for page in trace.exchanges("resources/templates/list")
        for item in page.objects("resourceTemplates")
    )
    return any(isinstance(one, str) and NOWHERE.startswith(one.partition("{")[0]) for one in templates)


# The file that scenarios climb to: on every Unix, without secrets, with this word in it.
TARGET, WORD = "etc/hosts", "localhost"


@check("file:// paths do not lead out of what is offered", requirements=("RS-16",))
def judge_traversal(trace: Trace) -> Iterator[Observation]:
    reads = [one for one in trace.exchanges("resources/read") if _path(one).endswith(TARGET)]
    # A server that offers the whole file system gives nothing away by this.
    offered = any(_leaks(one) for one in reads if not _climbs(one))
    for exchange in reads:
        if _climbs(exchange) and not offered and exchange.answer is not None:
            expected = "an error: the path leads out of the resources"
            yield observe("RS-16", not _leaks(exchange), exchange, expected=expected, observed=exchange)


def _path(exchange: Exchange) -> str:
    uri = exchange.params.get("uri")
    return uri.lower().replace("%2f", "/").replace("%2e", ".") if isinstance(uri, str) else ""


def _climbs(exchange: Exchange) -> bool:
    return ".." in _path(exchange)


def _leaks(exchange: Exchange) -> bool:
    return any(WORD in str(item.get("text")) for item in exchange.objects("contents"))


HAS_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@check("What is no URI is not read", requirements=("RS-12",))
def judge_validated_uris(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/read"):
        if _is_no_uri(exchange.params.get("uri")) and (
            exchange.answer is not None or exchange.head is not None
        ):
            yield observe("RS-12", exchange.result is None, exchange, expected="an error", observed=exchange)


def _is_no_uri(value: Any) -> bool:
    return not isinstance(value, str) or HAS_SCHEME.match(value) is None


# --- what the checks must catch


@on_reply(
    "an unknown resource is an internal error",
    breaks="RS-07",
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
)
def not_found_internal(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "error" in reply:
        reply["error"]["code"] = INTERNAL_ERROR
    return reply


@on_reply("an unknown resource gets -32002, which is retired", breaks="RS-08")
def not_found_old_code(reply: Json, context: FaultContext) -> Json:
    if context.method == "resources/read" and "error" in reply:
        reply["error"]["code"] = RESOURCE_NOT_FOUND
    return reply


@on_reply("an unknown resource holds the text that it was not found", breaks="RS-08")
def not_found_text(reply: Json, context: FaultContext) -> Json:
    uri = context.params.get("uri")
    if context.method != "resources/read" or "error" not in reply or not isinstance(uri, str):
        return reply
    contents = [{"uri": uri, "mimeType": "text/plain", "text": f"Resource not found: {uri}"}]
    result = {"contents": contents, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}


@on_reply("an unknown resource has empty `contents`", breaks="RS-09")
def not_found_empty(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/read" or "error" not in reply:
        return reply
    result = {"contents": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}


HOSTS = "127.0.0.1\tlocalhost\n"


@on_reply("`..` in a path is followed", breaks="RS-16")
def climbs(reply: Json, context: FaultContext) -> Json:
    uri = context.params.get("uri")
    if context.method != "resources/read" or not isinstance(uri, str) or "/../" not in uri:
        return reply
    contents = [{"uri": uri, "mimeType": "text/plain", "text": HOSTS}]
    result = {"contents": contents, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}


@on_reply("`..` in a path is followed where it is percent-encoded", breaks="RS-16")
def climbs_when_encoded(reply: Json, context: FaultContext) -> Json:
    uri = context.params.get("uri")
    if context.method != "resources/read" or not isinstance(uri, str) or "%2e%2e" not in uri:
        return reply
    contents = [{"uri": uri, "mimeType": "text/plain", "text": HOSTS}]
    result = {"contents": contents, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}


@on_reply("what is no URI is taken for a path, and an empty file found there", breaks="RS-12")
def any_uri(reply: Json, context: FaultContext) -> Json:
    if context.method != "resources/read" or "error" not in reply:
        return reply
    path = str(context.params.get("uri", ""))
    contents = [{"uri": f"file:///{path}", "mimeType": "text/plain", "text": ""}]
    result = {"contents": contents, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": reply["id"], "result": result}
