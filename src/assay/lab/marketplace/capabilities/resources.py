"""Resources carry retention and provenance, stay stable, and cannot be written."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
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
    on_reply,
    on_request,
    scenario,
)
from assay.lab.harness.driver.choice import NOWHERE, uris_of
from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.stage import open_server_stream
from assay.lab.harness.need import A_RESOURCE, declares
from assay.lab.harness.sabotage.saboteur import LocalAnswer, newest_of_each_kind
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Exchange
from assay.lab.marketplace.declaration import BOTH, profile_check
from assay.lab.suite.subscription import ACKNOWLEDGED, LISTEN
from assay.revisions.revision import Opening

from .fault import WRITING, is_writing
from .fault import contents as contents_fault
from .meta import PROVENANCE, RETENTION, TIERS, is_tier, tag, told


class Content(Struct, frozen=True):
    """One of the contents of a resource that was read."""

    exchange: Exchange
    fields: dict[str, Any]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.exchange.frames

    @property
    def uri(self) -> str:
        return str(self.fields.get("uri"))

    @property
    def exact(self) -> tuple[str, bytes] | None:
        """What kind of bytes it holds, and the bytes; none where nobody can tell."""
        text, blob = self.fields.get("text"), self.fields.get("blob")
        try:
            if isinstance(text, str):
                return "text-utf8", text.encode()
            return ("blob", b64decode(blob, validate=True)) if isinstance(blob, str) else None
        except ValueError:
            return None


def reads(trace: Trace) -> Iterator[Exchange]:
    """The reads that came to something."""
    return (one for one in trace.exchanges("resources/read") if one.objects("contents"))


def contents(trace: Trace) -> Iterator[Content]:
    for exchange in reads(trace):
        yield from (Content(exchange, fields) for fields in exchange.objects("contents"))


def reads_by_uri(trace: Trace) -> dict[str, list[Exchange]]:
    found: dict[str, list[Exchange]] = {}
    for exchange in reads(trace):
        uri = exchange.params.get("uri")
        if isinstance(uri, str):
            found.setdefault(uri, []).append(exchange)
    return found


# --- what is asked


MOST = 10


@scenario("Resources, read twice", exercises=("cap.stable", "cap.tags"), needs=(A_RESOURCE,), transports=BOTH)
async def drive_resources(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("resources/list", "resources")
    restless = [uri for uri in uris_of(stage.facts)[:MOST] if not await _reads_alike(peer, uri)]
    if restless:
        await _watch(stage, peer, restless)
        for uri in restless:
            await _reads_alike(peer, uri)
        await peer.pages("resources/list", "resources")


async def _reads_alike(peer: Peer, uri: str) -> bool:
    first = await peer.request("resources/read", {"uri": uri})
    second = await peer.request("resources/read", {"uri": uri})
    return _bytes(first) == _bytes(second)


def _bytes(reply: Reply) -> list[Any]:
    """What was read, without what is said of it: that may tell the time."""
    found = reply.result.get("contents")
    held = [one for one in (found if isinstance(found, list) else []) if isinstance(one, dict)]
    return [(one.get("text"), one.get("blob")) for one in held]


async def _watch(stage: Stage, peer: Peer, uris: list[str]) -> None:
    """Be where a change would be announced, if the server announces any."""
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
    "Resources cannot be written to",
    exercises=("cap.unwritable",),
    needs=(declares("resources"),),
    transports=BOTH,
)
async def drive_unwritable(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request("resources/list")
    for method in (MADE_UP, *WRITING):
        # Without anything to write: a server that has the method finds fault with that, and changes nothing.
        await peer.request(method, {"uri": NOWHERE})


# --- how it is judged


ROW: Final = "CONF-CAP-03.resources.read-only"
MADE_UP: Final = "resources/no-such-verb-of-the-lab"
"""No server has it: what is refused in the same way is not there either, whatever the code."""
UNKNOWN: Final = -32601


@profile_check("Resources are there to be read", requirements=(ROW,))
def judge_unwritable(trace: Trace) -> Iterator[Observation]:
    absent = [_refusal(one) for one in trace.exchanges(MADE_UP) if one.code is not None]
    for exchange in trace.exchanges(*WRITING):
        if exchange.answer is not None:
            yield observe(
                ROW,
                exchange.code == UNKNOWN or _refusal(exchange) in absent,
                exchange,
                expected=f"error {UNKNOWN}: no {exchange.method}; changes are for tools to make",
                observed=exchange,
            )


def _refusal(exchange: Exchange) -> tuple[Any, str]:
    """Code and message, whichever method the message names."""
    message = "" if exchange.answer is None else f"{exchange.answer.error.get('message')}"
    return exchange.code, message.replace(exchange.method, "")


STABLE_ROW: Final = "CONF-CAP-03.resources.stable"


@profile_check("Resources do not change silently", requirements=(STABLE_ROW,))
def judge_stable(trace: Trace) -> Iterator[Observation]:
    for uri, found in reads_by_uri(trace).items():
        pairs = list(pairwise(found))
        if pairs and not _was_announced(trace, uri) and not _was_dated(trace, uri):
            # What somebody else changes meanwhile differs once; what is never the same, differs every time.
            steady = any(_stable_bytes(one) == _stable_bytes(other) for one, other in pairs)
            yield observe(
                STABLE_ROW,
                steady,
                *found,
                expected="the same bytes at the next read, or an announced change, or another lastModified",
                observed=f"{len(found)} reads of {uri} in a row, no two of them alike",
            )


def _stable_bytes(exchange: Exchange) -> list[Any]:
    return [Content(exchange, fields).exact for fields in exchange.objects("contents")]


def _was_announced(trace: Trace, uri: str) -> bool:
    return any(one.method == UPDATED and one.params.get("uri") == uri for one in trace.received)


def _was_dated(trace: Trace, uri: str) -> bool:
    """Whether its `lastModified` differs between two lists."""
    listed = [one for page in trace.exchanges("resources/list") for one in page.objects("resources")]
    about = [one.get("annotations") for one in listed if one.get("uri") == uri]
    dates = [one.get("lastModified") for one in about if isinstance(one, dict)]
    return len({repr(date) for date in dates}) > 1


KEPT: Final = "CONF-CAP-03.resources.retention"
HASHED: Final = "CONF-CAP-03.resources.provenance"


@profile_check("What is read is tagged", requirements=(KEPT, HASHED))
def judge_tags(trace: Trace) -> Iterator[Observation]:
    for content in contents(trace):
        yield _kept(content)
        yield from _hashed(content)


def _kept(content: Content) -> Observation:
    found = tag(content.fields, RETENTION)
    return observe(
        KEPT,
        is_tier((found or {}).get("tier")),
        content,
        expected=f'_meta["{RETENTION}"] = {{"tier": …}} on each content, one of {", ".join(TIERS)}',
        observed=f"{content.uri}: {told(found, RETENTION)}",
    )


def _hashed(content: Content) -> Iterator[Observation]:
    exact = content.exact
    if exact is None:
        return
    over, data = exact
    right = {"alg": "sha-256", "digest": sha256(data).hexdigest(), "over": over}
    found = tag(content.fields, PROVENANCE)
    yield observe(
        HASHED,
        found is not None and all(found.get(key) == value for key, value in right.items()),
        content,
        expected=f'_meta["{PROVENANCE}"] on each content, with {right}: of the {len(data)} bytes as they are',
        observed=f"{content.uri}: {told(found, PROVENANCE)}",
    )


# --- what the checks must catch


@on_request(
    "resources/delete is refused for its arguments, not as a method",
    breaks="CONF-CAP-03.resources.read-only",
    window=newest_of_each_kind,
)
def deletes_what_is_there(request: Json, context: FaultContext) -> Json | LocalAnswer:
    if not is_writing(request):
        return request
    error = {"code": -32602, "message": "No such resource"}
    return LocalAnswer([{"jsonrpc": "2.0", "id": request["id"], "error": error}])


@on_request("resources/write and its like do their work", breaks="CONF-CAP-03.resources.read-only")
def writes_resources(request: Json, context: FaultContext) -> Json | LocalAnswer:
    if not is_writing(request):
        return request
    return LocalAnswer([{"jsonrpc": "2.0", "id": request["id"], "result": {"resultType": "complete"}}])


@on_reply("a resource differs at each read", breaks="CONF-CAP-03.resources.stable")
def restless(reply: Json, context: FaultContext) -> Json:
    for content in contents_fault(reply, context):
        context.memory["reads"] = context.memory.get("reads", 0) + 1
        content["text"] = f"{content.get('text', '')}, read {context.memory['reads']}"
    return reply


@on_reply(
    "the digest of a blob is that of its Base64",
    breaks="CONF-CAP-03.resources.provenance",
    window=newest_of_each_kind,
)
def digest_of_base64(reply: Json, context: FaultContext) -> Json:
    for content in contents_fault(reply, context):
        if "blob" in content:
            content["_meta"][PROVENANCE]["digest"] = sha256(content["blob"].encode()).hexdigest()
    return reply


@on_reply(
    "the digest is of what was serialised",
    breaks="CONF-CAP-03.resources.provenance",
    window=newest_of_each_kind,
)
def digest_of_json(reply: Json, context: FaultContext) -> Json:
    for content in contents_fault(reply, context):
        written = json.dumps(content.get("text", content.get("blob"))).encode()
        content["_meta"][PROVENANCE]["digest"] = sha256(written).hexdigest()
    return reply


@on_reply(
    "the text is not the one that the digest is of",
    breaks="CONF-CAP-03.resources.provenance",
    window=newest_of_each_kind,
)
def text_shortened(reply: Json, context: FaultContext) -> Json:
    for content in contents_fault(reply, context):
        if content.get("text"):
            content["text"] = content["text"][:-1]
    return reply


@on_reply("what is read has no provenance", breaks="CONF-CAP-03.resources.provenance")
def unproven(reply: Json, context: FaultContext) -> Json:
    for content in contents_fault(reply, context):
        content["_meta"].pop(PROVENANCE)
    return reply


@on_reply(
    "the retention tier is none of the profile's",
    breaks="CONF-CAP-03.resources.retention",
    window=newest_of_each_kind,
)
def tier_made_up(reply: Json, context: FaultContext) -> Json:
    for content in contents_fault(reply, context):
        content["_meta"][RETENTION]["tier"] = "forever"
    return reply


@on_reply("what is read has no retention tier", breaks="CONF-CAP-03.resources.retention")
def untagged(reply: Json, context: FaultContext) -> Json:
    for content in contents_fault(reply, context):
        content["_meta"].pop(RETENTION)
    return reply
