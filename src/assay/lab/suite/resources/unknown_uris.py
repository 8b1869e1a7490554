"""URIs of unknown resources, invalid URIs, and paths that lead out of the offered files."""

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
    result_reply,
    scenario,
)
from assay.lab.harness.driver.choice import NOWHERE, uris_of
from assay.lab.harness.need import Need, declares
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND
from assay.revisions.revision import Opening

# --- what is asked


INVALID_URIS: Final[tuple[dict[str, Any], ...]] = ({"uri": "no uri at all"}, {"uri": ""}, {"uri": 42}, {})


@scenario(
    "Read unknown resources and invalid URIs",
    exercises=("resources.unknown", "resources.validated-uris"),
    needs=(declares("resources"),),
    official="sep-2164-resource-not-found",
)
async def drive_unknown(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("resources/templates/list", "resourceTemplates")
    for uri in (*uris_of(stage.facts)[:1], NOWHERE, f"{NOWHERE}/of-the-lab.txt"):
        await peer.request("resources/read", {"uri": uri})
    for params in INVALID_URIS:
        await peer.request("resources/read", params)


TARGET, WORD = "etc/hosts", "localhost"
"""A file of every Unix that has no secrets, and a word in it."""
DEPTH: Final = 12
"""Steps up: more than any path is deep."""
STEPS: Final = ("../", "%2e%2e/", "..%2f")


def _file_uris(facts: Facts) -> list[str]:
    return [uri for uri in uris_of(facts) if uri.startswith("file:///")]


@scenario(
    "Read files by paths that lead out of the offered ones",
    needs=(Need(lambda facts: bool(_file_uris(facts)), "lists no file:// resources"),),
)
async def drive_traversal(stage: Stage) -> None:
    peer = await stage.open()
    known = _file_uris(stage.facts)[0]
    folder = known.rpartition("/")[0]
    for uri in (known, f"file:///{TARGET}", *(f"{folder}/{step * DEPTH}{TARGET}" for step in STEPS)):
        await peer.request("resources/read", {"uri": uri})


# --- how it is judged


@check("An unknown resource is refused", requirements=("RS-07", "RS-08", "RS-09"), everywhere=True)
def judge_unknown(trace: Trace) -> Iterator[Observation]:
    if _accepts_any_uri(trace):
        return
    for exchange in trace.exchanges("resources/read"):
        uri = exchange.params.get("uri")
        if not isinstance(uri, str) or not uri.startswith(NOWHERE) or exchange.answer is None:
            continue
        for requirement, code in (("RS-07", RESOURCE_NOT_FOUND), ("RS-08", INVALID_PARAMS)):
            refused = exchange.code == code
            yield observe(requirement, refused, exchange, expected=f"error {code}", observed=exchange)
        empty = exchange.result is not None and exchange.result.get("contents") == []
        yield observe("RS-09", not empty, exchange, expected="no empty `contents`", observed=exchange)


def _accepts_any_uri(trace: Trace) -> bool:
    """Whether a template matches any URI: then every resource may exist."""
    pages = trace.exchanges("resources/templates/list")
    templates = (item.get("uriTemplate") for page in pages for item in page.objects("resourceTemplates"))
    return any(isinstance(each, str) and NOWHERE.startswith(each.partition("{")[0]) for each in templates)


@check("file:// paths do not lead out of the offered files", requirements=("RS-16",))
def judge_traversal(trace: Trace) -> Iterator[Observation]:
    reads = [exchange for exchange in trace.exchanges("resources/read") if _path(exchange).endswith(TARGET)]
    # A server may offer the whole file system.
    offered = any(_leaks(exchange) for exchange in reads if ".." not in _path(exchange))
    for exchange in reads:
        if ".." in _path(exchange) and not offered and exchange.answer is not None:
            expected = "an error: the path leads out of the resources"
            yield observe("RS-16", not _leaks(exchange), exchange, expected=expected, observed=exchange)


def _path(exchange: Exchange) -> str:
    uri = exchange.params.get("uri")
    return uri.lower().replace("%2f", "/").replace("%2e", ".") if isinstance(uri, str) else ""


def _leaks(exchange: Exchange) -> bool:
    return any(WORD in str(item.get("text")) for item in exchange.objects("contents"))


SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@check("An invalid URI is refused", requirements=("RS-12",))
def judge_validated_uris(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/read"):
        uri, answered = exchange.params.get("uri"), exchange.answer is not None or exchange.head is not None
        if answered and (not isinstance(uri, str) or SCHEME.match(uri) is None):
            yield observe("RS-12", exchange.result is None, exchange, expected="an error", observed=exchange)


# --- what the checks must catch


def _is_refused(reply: Json, context: FaultContext) -> bool:
    return context.method == "resources/read" and "error" in reply


def _contents_reply(reply: Json, texts: dict[str, str]) -> Json:
    """A result with the texts by URI."""
    contents = [{"uri": uri, "mimeType": "text/plain", "text": text} for uri, text in texts.items()]
    hints = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return result_reply(reply, {"contents": contents, **hints})


@on_reply(
    "refuses an unknown resource with -32603",
    breaks="RS-07",
    window=lambda revision: revision.opening is Opening.HANDSHAKE,
)
def not_found_internal(reply: Json, context: FaultContext) -> Json:
    if _is_refused(reply, context):
        reply["error"]["code"] = INTERNAL_ERROR
    return reply


@on_reply("refuses an unknown resource with -32002, which is retired", breaks="RS-08")
def not_found_old_code(reply: Json, context: FaultContext) -> Json:
    if _is_refused(reply, context):
        reply["error"]["code"] = RESOURCE_NOT_FOUND
    return reply


@on_reply("reports an unknown resource as text", breaks="RS-08")
def not_found_text(reply: Json, context: FaultContext) -> Json:
    uri = context.params.get("uri")
    if not _is_refused(reply, context) or not isinstance(uri, str):
        return reply
    return _contents_reply(reply, {uri: f"Resource not found: {uri}"})


@on_reply("answers an unknown resource with empty `contents`", breaks="RS-09")
def not_found_empty(reply: Json, context: FaultContext) -> Json:
    return _contents_reply(reply, {}) if _is_refused(reply, context) else reply


def _climb(reply: Json, context: FaultContext, step: str) -> Json:
    uri = context.params.get("uri")
    if context.method != "resources/read" or not isinstance(uri, str) or step not in uri:
        return reply
    return _contents_reply(reply, {uri: "127.0.0.1\tlocalhost\n"})


@on_reply("follows `..` in a path", breaks="RS-16")
def climbs(reply: Json, context: FaultContext) -> Json:
    return _climb(reply, context, "/../")


@on_reply("follows a percent-encoded `..` in a path", breaks="RS-16")
def climbs_when_encoded(reply: Json, context: FaultContext) -> Json:
    return _climb(reply, context, "%2e%2e")


@on_reply("reads an invalid URI as the path of an empty file", breaks="RS-12")
def any_uri(reply: Json, context: FaultContext) -> Json:
    path = str(context.params.get("uri", ""))
    return _contents_reply(reply, {f"file:///{path}": ""}) if _is_refused(reply, context) else reply
