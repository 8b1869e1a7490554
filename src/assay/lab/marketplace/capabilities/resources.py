"""Resources carry retention and provenance, stay stable, and cannot be written."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import pairwise
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    observe,
    on_request,
    on_result,
    scenario,
)
from assay.lab.harness.driver.choice import NOWHERE, uris_of
from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.stage import open_server_stream
from assay.lab.harness.need import A_RESOURCE, declares
from assay.lab.harness.sabotage.saboteur import LocalAnswer, Saboteur, newest_of_each_kind
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Exchange
from assay.lab.marketplace.declaration import BOTH, profile_check
from assay.lab.suite.subscription import ACKNOWLEDGED, LISTEN
from assay.model.error import METHOD_NOT_FOUND
from assay.revisions.revision import Opening

from .meta import PROVENANCE, RETENTION, TIERS, describe, is_tier, tag

PREFIX: Final = "CONF-CAP-03.resources"
WRITING: Final = tuple(f"resources/{verb}" for verb in ("write", "update", "create", "delete"))
"""Methods that would change a resource; no revision has them."""
MADE_UP: Final = "resources/no-such-verb-of-the-lab"
"""A method that no server has: a method that is refused in the same way does not exist either."""


class Content(Struct, frozen=True):
    """One of the contents of a resource."""

    exchange: Exchange
    fields: Json

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.exchange.frames

    @property
    def data(self) -> tuple[str, bytes] | None:
        """The kind of its bytes, and the bytes; None if it is invalid."""
        text, blob = self.fields.get("text"), self.fields.get("blob")
        try:
            if isinstance(text, str):
                return "text-utf8", text.encode()
            return ("blob", b64decode(blob, validate=True)) if isinstance(blob, str) else None
        except ValueError:
            return None


def _contents(exchange: Exchange) -> list[Content]:
    return [Content(exchange, fields) for fields in exchange.objects("contents")]


# --- what is asked


MOST: Final = 10


@scenario(
    "Read each resource twice", exercises=("cap.stable", "cap.tags"), needs=(A_RESOURCE,), transports=BOTH
)
async def drive_resources(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("resources/list", "resources")
    changing = [uri for uri in uris_of(stage.facts)[:MOST] if not await _reads_alike(peer, uri)]
    if changing:
        await _subscribe(stage, peer, changing)
        for uri in changing:
            await _reads_alike(peer, uri)
        await peer.pages("resources/list", "resources")


async def _reads_alike(peer: Peer, uri: str) -> bool:
    first = await peer.request("resources/read", {"uri": uri})
    second = await peer.request("resources/read", {"uri": uri})
    return _data(first) == _data(second)


def _data(reply: Reply) -> list[Any]:
    """The contents without their metadata, which may have the time."""
    contents = reply.result.get("contents")
    objects = [item for item in (contents if isinstance(contents, list) else ()) if isinstance(item, dict)]
    return [(content.get("text"), content.get("blob")) for content in objects]


async def _subscribe(stage: Stage, peer: Peer, uris: list[str]) -> None:
    if not stage.facts.declares("resources", "subscribe"):
        return
    if stage.revision.opening is Opening.PER_REQUEST:
        pending = await peer.start(LISTEN, {"notifications": {"resourceSubscriptions": uris}})
        await peer.wait_for(ACKNOWLEDGED, during=pending)
        return
    await open_server_stream(stage, peer)
    for uri in uris:
        await peer.request("resources/subscribe", {"uri": uri})


@scenario(
    "Try to write resources", exercises=("cap.unwritable",), needs=(declares("resources"),), transports=BOTH
)
async def drive_unwritable(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("resources/list")
    for method in (MADE_UP, *WRITING):
        # Without content, so that a server with this method reports an error and changes nothing.
        await peer.request(method, {"uri": NOWHERE})


# --- how it is judged


@profile_check("Resources cannot be written", requirements=(f"{PREFIX}.read-only",))
def judge_unwritable(trace: Trace) -> Iterator[Observation]:
    unknown = [_refusal(exchange) for exchange in trace.exchanges(MADE_UP) if exchange.code is not None]
    for exchange in trace.exchanges(*WRITING):
        if exchange.answer is not None:
            holds = exchange.code == METHOD_NOT_FOUND or _refusal(exchange) in unknown
            expected = f"error {METHOD_NOT_FOUND}: only tools may change something"
            yield observe(f"{PREFIX}.read-only", holds, exchange, expected=expected, observed=exchange)


def _refusal(exchange: Exchange) -> tuple[Any, str]:
    """Code and message, without the name of the method."""
    message = "" if exchange.answer is None else f"{exchange.answer.error.get('message')}"
    return exchange.code, message.replace(exchange.method, "")


@profile_check("Resources do not change silently", requirements=(f"{PREFIX}.stable",))
def judge_stable(trace: Trace) -> Iterator[Observation]:
    by_uri: dict[str, list[Exchange]] = {}
    for exchange in trace.exchanges("resources/read"):
        uri = exchange.params.get("uri")
        if isinstance(uri, str) and exchange.objects("contents"):
            by_uri.setdefault(uri, []).append(exchange)
    for uri, reads in by_uri.items():
        if len(reads) > 1 and not _was_announced(trace, uri) and not _was_dated(trace, uri):
            data = [[content.data for content in _contents(read)] for read in reads]
            # Another client may change a resource once; only one that always differs is not stable.
            holds = any(first == second for first, second in pairwise(data))
            expected = "the same bytes at the next read, an announced change, or another lastModified"
            observed = f"{len(reads)} reads of {uri} in a row, all different"
            yield observe(f"{PREFIX}.stable", holds, *reads, expected=expected, observed=observed)


def _was_announced(trace: Trace, uri: str) -> bool:
    updates = (message for message in trace.received if message.method == UPDATED)
    return any(update.params.get("uri") == uri for update in updates)


def _was_dated(trace: Trace, uri: str) -> bool:
    """Whether its `lastModified` differs between two lists."""
    listed = [item for page in trace.exchanges("resources/list") for item in page.objects("resources")]
    annotations = [item.get("annotations") for item in listed if item.get("uri") == uri]
    return len({repr(part.get("lastModified")) for part in annotations if isinstance(part, dict)}) > 1


@profile_check(
    "Contents have a retention tier and a provenance",
    requirements=(f"{PREFIX}.retention", f"{PREFIX}.provenance"),
)
def judge_tags(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/read"):
        for content in _contents(exchange):
            uri, retention = content.fields.get("uri"), tag(content.fields, RETENTION)
            expected = f'_meta["{RETENTION}"] = {{"tier": …}} on each content, one of {", ".join(TIERS)}'
            observed = f"{uri}: {describe(retention, RETENTION)}"
            holds = is_tier((retention or {}).get("tier"))
            yield observe(f"{PREFIX}.retention", holds, content, expected=expected, observed=observed)
            if content.data is not None:
                over, data = content.data
                right = {"alg": "sha-256", "digest": sha256(data).hexdigest(), "over": over}
                provenance = tag(content.fields, PROVENANCE)
                holds = provenance is not None and right.items() <= provenance.items()
                expected = f'_meta["{PROVENANCE}"] on each content, with {right}: of all {len(data)} bytes'
                observed = f"{uri}: {describe(provenance, PROVENANCE)}"
                yield observe(f"{PREFIX}.provenance", holds, content, expected=expected, observed=observed)


# --- what the checks must catch


def _answers_writing(name: str, fault: str, reply: Json, **options: Any) -> Saboteur:
    """A server that knows the methods which would change a resource."""

    def answer(request: Json, context: FaultContext) -> Json | LocalAnswer:
        if request.get("method") not in WRITING or "id" not in request:
            return request
        return LocalAnswer([{"jsonrpc": "2.0", "id": request["id"], **reply}])

    saboteur: Saboteur = on_request(fault, id=f"cap.{name}", breaks=f"{PREFIX}.read-only", **options)(answer)
    return saboteur


WRITABLE: Final = (
    _answers_writing(
        "deletes-what-is-there",
        "refuses resources/delete for its arguments, not as unknown",
        {"error": {"code": -32602, "message": "No such resource"}},
        window=newest_of_each_kind,
    ),
    _answers_writing("writes-resources", "writes resources", {"result": {"resultType": "complete"}}),
)


def _alters_contents(
    name: str, fault: str, breaks: str, change: Callable[[Json, FaultContext], object], **options: Any
) -> Saboteur:
    """A server that changes each content that it returns."""

    def alter(result: Json, context: FaultContext) -> None:
        for content in result.get("contents", ()):
            change(content, context)

    return on_result(
        fault, id=f"cap.{name}", breaks=f"{PREFIX}.{breaks}", method="resources/read", **options
    )(alter)


def _number(content: Json, context: FaultContext) -> None:
    context.memory["reads"] = context.memory.get("reads", 0) + 1
    content["text"] = f"{content.get('text', '')}, read {context.memory['reads']}"


def _digest_base64(content: Json, context: FaultContext) -> None:
    if "blob" in content:
        content["_meta"][PROVENANCE]["digest"] = sha256(content["blob"].encode()).hexdigest()


def _digest_json(content: Json, context: FaultContext) -> None:
    data = json.dumps(content.get("text", content.get("blob"))).encode()
    content["_meta"][PROVENANCE]["digest"] = sha256(data).hexdigest()


def _shorten(content: Json, context: FaultContext) -> None:
    if content.get("text"):
        content["text"] = content["text"][:-1]


def _invent_tier(content: Json, context: FaultContext) -> None:
    content["_meta"][RETENTION]["tier"] = "forever"


def _omits(key: str) -> Callable[[Json, FaultContext], object]:
    return lambda content, context: content["_meta"].pop(key)


CONTENTS: Final = (
    *(
        _alters_contents(*row)
        for row in (
            ("restless", "returns other text at each read", "stable", _number),
            ("unproven", "returns no provenance", "provenance", _omits(PROVENANCE)),
            ("untagged", "returns no retention tier", "retention", _omits(RETENTION)),
        )
    ),
    *(
        _alters_contents(*row, window=newest_of_each_kind)
        for row in (
            ("digest-of-base64", "digests the Base64 of a blob", "provenance", _digest_base64),
            ("digest-of-json", "digests the JSON of a content", "provenance", _digest_json),
            ("text-shortened", "returns other text than that of the digest", "provenance", _shorten),
            ("tier-made-up", "returns an unknown retention tier", "retention", _invent_tier),
        )
    ),
)
