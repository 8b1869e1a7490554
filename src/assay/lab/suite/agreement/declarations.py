"""A server declares the same on every connection, and names the same versions everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Any, Final

import msgspec

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Trace,
    check,
    observe,
    on_reply,
    on_result,
)
from assay.lab.harness.driver.message_meta import CLIENT_KEY, VERSION_KEY
from assay.lab.harness.subject.bearer import BEARER
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.self_description import as_object, capabilities_of, is_of_revision
from assay.model.error import UNSUPPORTED_VERSION
from assay.revisions.revision import Opening

# --- how it is judged


_encode: Final = msgspec.json.Encoder(order="sorted").encode
CORE: Final = ("tools", "resources", "prompts", "logging", "completions")


@check(
    "A server declares the same on every connection, before and after use",
    requirements=("AGREE-03",),
    everywhere=True,
    history=True,
)
def judge_same_declaration(trace: Trace) -> Iterator[Observation]:
    tokens = {mark.connection: repr(mark.info.get("shows")) for mark in trace.marks(BEARER)}
    declared = sorted(
        ((_conditions(exchange, tokens), exchange) for exchange in _declarations(trace)),
        key=lambda pair: pair[0],
    )
    for _, group in groupby(declared, key=lambda pair: pair[0]):
        (_, first), *later = group
        for _, exchange in later:
            differing = ", ".join(_differences(first.result or {}, exchange.result or {}))
            expected = "the same capabilities and versions as before"
            yield observe("AGREE-03", not differing, first, exchange, expected=expected, observed=differing)


def _declarations(trace: Trace) -> Iterator[Exchange]:
    for exchange in trace.exchanges("initialize", "server/discover"):
        if exchange.method == "initialize":
            usual = exchange.params.get("protocolVersion") == trace.revision.date
        else:
            usual = is_of_revision(exchange, trace.revision)
        if usual and isinstance((exchange.result or {}).get("capabilities"), dict):
            yield exchange


def _conditions(exchange: Exchange, tokens: dict[str, str]) -> tuple[str, str, bytes]:
    """What a declaration may depend on: the method, the user, and the client with its capabilities."""
    initializes = exchange.method == "initialize"
    client = exchange.params.get("clientInfo") if initializes else exchange.meta.get(CLIENT_KEY)
    capabilities = exchange.params.get("capabilities") if initializes else capabilities_of(exchange)
    user = tokens.get(exchange.request.frame.connection, "")
    return exchange.method, user, _encode([capabilities, client])


def _differences(first: dict[str, Any], second: dict[str, Any]) -> Iterator[str]:
    left, right = as_object(first.get("capabilities")), as_object(second.get("capabilities"))
    for name in sorted(left.keys() ^ right.keys()):
        yield f"`{name}` was declared only {'before' if name in left else 'later'}"
    for name in CORE:
        if name in left and name in right and left[name] != right[name]:
            yield f"`{name}` was {left[name]!r}, then {right[name]!r}"
    for name in ("protocolVersion", "supportedVersions"):
        if _named(first.get(name)) != _named(second.get(name)):
            yield f"`{name}` was {first.get(name)!r}, then {second.get(name)!r}"


def _named(versions: Any) -> list[str]:
    """Versions in any order."""
    return sorted(map(str, versions)) if isinstance(versions, list) else [str(versions)]


@check("Versions are the same wherever they are named or served", requirements=("AGREE-04",), everywhere=True)
def judge_versions_named(trace: Trace) -> Iterator[Observation]:
    lists = list(_version_lists(trace))
    for (first, versions), (other, others) in pairwise(lists):
        same, expected = versions == others, f"the versions {', '.join(sorted(versions))}"
        observed = ", ".join(sorted(others)) or "none"
        yield observe("AGREE-04", same, first, other, expected=expected, observed=observed)
    for (evidence, versions), exchange in ((lists[0], each) for each in _served(trace) if lists):
        version = exchange.meta[VERSION_KEY]
        expected = f"{version} among the versions, since a request of it was served"
        observed = ", ".join(sorted(versions)) or "none"
        yield observe(
            "AGREE-04", version in versions, evidence, exchange, expected=expected, observed=observed
        )


def _version_lists(trace: Trace) -> Iterator[tuple[Exchange | Message, frozenset[str]]]:
    """The versions in results of discovery and in refusals of a version."""
    for exchange in trace.exchanges("server/discover"):
        versions = (exchange.result or {}).get("supportedVersions")
        if isinstance(versions, list) and is_of_revision(exchange, trace.revision):
            yield exchange, frozenset(map(str, versions))
    for message in trace.received:
        versions = as_object(message.error.get("data")).get("supported")
        if message.code == UNSUPPORTED_VERSION and isinstance(versions, list):
            yield message, frozenset(map(str, versions))


def _served(trace: Trace) -> Iterator[Exchange]:
    """Requests of the revision that were served, but not discovery, which may answer any version."""
    for exchange in trace.exchanges():
        other = exchange.method not in ("server/discover", "initialize")
        if other and exchange.result is not None and is_of_revision(exchange, trace.revision):
            yield exchange


# --- what the checks must catch


@on_result(
    "declares less on every second connection",
    breaks="AGREE-03",
    method=("initialize", "server/discover"),
    transports=HTTP_ONLY,
)
def declares_once(result: Json, context: FaultContext) -> None:
    count = context.shared["declarations"] = context.shared.get("declarations", 0) + 1
    if count % 2 == 0:
        result["capabilities"].pop("prompts", None)


@on_reply(
    "no longer declares subscriptions once a resource was read",
    breaks="AGREE-03",
    window=lambda revision: revision.opening is Opening.PER_REQUEST,
)
def declares_until_used(reply: Json, context: FaultContext) -> Json:
    context.shared["used"] = context.shared.get("used") or context.method == "resources/read"
    if context.method in ("initialize", "server/discover") and "result" in reply and context.shared["used"]:
        reply["result"]["capabilities"]["resources"] = {}
    return reply


@on_reply(
    "names other versions in refusals than in discovery", breaks="AGREE-04", scenario="stateless.discovery"
)
def names_other_versions(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == UNSUPPORTED_VERSION:
        data = reply["error"]["data"]
        data["supported"] = [*data["supported"], "2031-01-01"]
    return reply


@on_result(
    "serves a version that discovery does not name",
    breaks="AGREE-04",
    method="server/discover",
    scenario="stateless.first-request",
    window=lambda revision: revision.opening is Opening.PER_REQUEST,
)
def hides_its_version(result: Json, context: FaultContext) -> None:
    result["supportedVersions"] = ["2031-01-01"]
