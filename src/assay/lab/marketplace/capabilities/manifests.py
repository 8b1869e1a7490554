"""Capability manifests and the registry entry agree with the live server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    observe,
    on_batch,
    on_call,
    on_reply,
    on_response,
    scenario,
)
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.need import A_REGISTRY_ENTRY
from assay.lab.harness.sabotage.saboteur import LocalAnswer, newest_of_each_kind
from assay.lab.harness.subject.out_of_band import REGISTRY
from assay.lab.harness.subject.registry_entry import (
    KINDS,
    PROFILE,
    PUBLISHER,
    TRANSPORTS,
    as_object,
    capabilities_block,
    profile_block,
)
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.listing import Listing, declaration, listings
from assay.lab.harness.trace.trace import Probe
from assay.lab.harness.transport import HTTP_ONLY, Transport
from assay.lab.harness.verdict import Evidence
from assay.lab.marketplace.declaration import BOTH, profile_check
from assay.revisions.revision import Batching, Opening, Revision

from .effect import looking_on
from .fault import is_manifest, listed
from .manifest import PLACES, REQUIRED, Manifest, disagreements, manifests
from .meta import VERSION
from .prompt_digest import knows_all_content


async def read_lists(stage: Stage, peer: Peer) -> None:
    """Read the lists of what it declares, each to its end."""
    for kind in KINDS:
        if kind in stage.facts.capabilities:
            await peer.pages(f"{kind}/list", kind)


# --- what is asked


@scenario("Manifests beside the live lists", exercises=("cap.manifests",), transports=HTTP_ONLY)
async def drive_manifests(stage: Stage) -> None:
    peer = await stage.open()
    async with looking_on(stage):
        await read_lists(stage, peer)
        for place in PLACES.values():
            await _fetch(peer, place)
        await read_lists(stage, peer)


async def _fetch(peer: Peer, place: str) -> None:
    sent = await peer.http.call("GET", headers={"Accept": JSON}, target=place)
    await peer.http.follow(sent)


@scenario(
    "The registry entry beside the server",
    exercises=("cap.registry",),
    needs=(A_REGISTRY_ENTRY,),
    transports=BOTH,
)
async def drive_registry(stage: Stage) -> None:
    stage.note(REGISTRY, entry=stage.out_of_band.registry)
    peer = await stage.open()
    if stage.revision.opening is Opening.PER_REQUEST:
        await peer.request("server/discover")
    async with looking_on(stage):
        await read_lists(stage, peer)
    if stage.revision.batching is not Batching.REFUSED:
        async with peer.probe(BATCH):
            await peer.offer([{"jsonrpc": "2.0", "id": peer.next_id(), "method": stage.plain}])


# --- how it is judged


FORM: Final = "CONF-CAP-03.manifests.form"
AGREE: Final = "CONF-CAP-03.manifests.agree"
SHOWN: Final = 5


@profile_check("Manifests tell what is there", requirements=(FORM, AGREE), transports=HTTP_ONLY)
def judge_manifests(trace: Trace) -> Iterator[Observation]:
    for one in manifests(trace):
        yield _form(one)
        live = [each for each in listings(trace, f"{one.kind}/list", one.kind) if each.complete]
        if one.is_there and live:
            yield _agreeing(one, live, trace.revision)


def _form(one: Manifest) -> Observation:
    return observe(
        FORM,
        not one.problems,
        one,
        expected=f"at {PLACES[one.kind]}, application/json: an array of objects with unique names, each "
        f"with {', '.join(REQUIRED[one.kind])}",
        observed="; ".join(one.problems[:SHOWN]),
    )


def _agreeing(one: Manifest, live: list[Listing], revision: Revision) -> Observation:
    """A list may change while both are read: the manifest is the one of before or of after."""
    differences = [disagreements(one, each.items, revision) for each in live]
    return observe(
        AGREE,
        not all(differences),
        one,
        *live,
        expected=f"in {PLACES[one.kind]}, just what {one.kind}/list has",
        observed="; ".join(differences[-1][:SHOWN]),
    )


ROW: Final = "CONF-CAP-03.registry.agree"
BATCH: Final = "a batch"


@profile_check("The registry entry is true", requirements=(ROW,))
def judge_registry(trace: Trace) -> Iterator[Observation]:
    for note in trace.marks(REGISTRY):
        block = profile_block(note.info.get("entry"))
        yield _seen(bool(block), note, f'_meta["{PUBLISHER}"]["{PROFILE}"] in the entry', "none")
        if block:
            yield from _reached(trace, note, block)
            yield from _batches(trace, note, block)
            yield from _lists(trace, note, as_object(block.get("capabilities")))


def _seen(holds: bool, note: Frame, expected: str, found: object, *evidence: Evidence) -> Observation:
    return observe(ROW, holds, note, *evidence, expected=expected, observed=found)


def _reached(trace: Trace, note: Frame, block: Mapping[str, Any]) -> Iterator[Observation]:
    here = {"transports": TRANSPORTS[Transport(trace.transport)], "protocolVersions": trace.revision.date}
    for key, value in here.items():
        told = block.get(key)
        there = isinstance(told, list) and value in told
        yield _seen(there, note, f"{key} with {value}, as this conversation shows", f"{key}: {told!r}")


def _batches(trace: Trace, note: Frame, block: Mapping[str, Any]) -> Iterator[Observation]:
    told = as_object(block.get("jsonrpc")).get("batch")
    yield _seen(isinstance(told, bool), note, "jsonrpc.batch, true or false", f"{told!r}")
    for probe in trace.probes(BATCH):
        taken = any("result" in answer.fields for answer in probe.answers)
        yield _seen(
            taken is (told is True), note, f"jsonrpc.batch is {str(taken).lower()}", _told(probe, told), probe
        )


def _told(probe: Probe, told: Any) -> str:
    return f"{told!r}, and a batch is answered with {', '.join(map(str, probe.answers)) or 'nothing'}"


def _lists(trace: Trace, note: Frame, told: dict[str, Any]) -> Iterator[Observation]:
    """A list may change while it is read: the entry is true if it is true of one reading. Resources that come
    and go, as the server itself says, are not held against an entry that was made before."""
    declared = declaration(trace)
    moving = declared is not None and declared.has("resources", "listChanged")
    left_out = () if knows_all_content(trace.revision) else ("digests",)
    for kind in KINDS:
        live = [one for one in listings(trace, f"{kind}/list", kind) if one.complete]
        right = [capabilities_block({kind: one.items})[kind] for one in live]
        if live and not (moving and kind == "resources"):
            said = as_object(told.get(kind))
            holds = any(_same(said, one, left_out) for one in right)
            yield _seen(
                holds,
                note,
                f"capabilities.{kind} {right[-1]}, as {kind}/list shows",
                f"{told.get(kind)!r}",
                *live,
            )


def _same(said: Mapping[str, Any], right: Mapping[str, Any], left_out: tuple[str, ...]) -> bool:
    return all(said.get(key) == value for key, value in right.items() if key not in left_out)


# --- what the checks must catch


@on_reply(
    "the manifest lacks a tool",
    breaks="CONF-CAP-03.manifests.agree",
    transports=HTTP_ONLY,
    window=newest_of_each_kind,
)
def manifest_lacks_tool(reply: Json, context: FaultContext) -> Json:
    for tool in listed(reply, context, "tools")[:1]:
        reply["result"]["tools"].append({**tool, "name": "newcomer"})
    return reply


@on_reply(
    "a prompt has another version than its manifest says",
    breaks="CONF-CAP-03.manifests.agree",
    transports=HTTP_ONLY,
    window=newest_of_each_kind,
)
def manifest_old_version(reply: Json, context: FaultContext) -> Json:
    if is_manifest(context) and "version" in reply:
        reply["version"] = "0.0.1"
    return reply


@on_reply(
    "a tool has another schema than its manifest says",
    breaks="CONF-CAP-03.manifests.agree",
    transports=HTTP_ONLY,
)
def schema_drifted(reply: Json, context: FaultContext) -> Json:
    for tool in listed(reply, context, "tools"):
        tool["inputSchema"]["description"] = "Changed since"
    return reply


@on_response("a manifest is a page", breaks="CONF-CAP-03.manifests.form", window=newest_of_each_kind)
def manifest_page(response: Response, context: FaultContext) -> None:
    if is_manifest(context):
        response.set("Content-Type", "text/html")
        response.body = b"<p>Our tools</p>"


@on_reply(
    "prompts in a manifest have no version",
    breaks="CONF-CAP-03.manifests.form",
    transports=HTTP_ONLY,
    window=newest_of_each_kind,
)
def manifest_unversioned(reply: Json, context: FaultContext) -> Json:
    if is_manifest(context):
        reply.pop("version", None)
    return reply


@on_call("no manifest is served", breaks="CONF-CAP-03.manifests.form", window=newest_of_each_kind)
def no_manifests(request: Request, context: FaultContext) -> Response | None:
    return Response([], 404) if is_manifest(context) else None


@on_reply("names in a manifest are not unique", breaks="CONF-CAP-03.manifests.form", transports=HTTP_ONLY)
def one_name(reply: Json, context: FaultContext) -> Json:
    if is_manifest(context):
        reply["name"] = "same"
    return reply


@on_batch(
    "batches are taken that the registry entry does not list",
    breaks="CONF-CAP-03.registry.agree",
    window=lambda revision: revision.batching is not Batching.REFUSED,
)
def batches_unlisted(messages: list[Any], context: FaultContext) -> list[Any] | LocalAnswer:
    answers = [{"jsonrpc": "2.0", "id": one["id"], "result": {}} for one in messages if "id" in one]
    return LocalAnswer([answers])


@on_reply("the registry entry lacks a tool", breaks="CONF-CAP-03.registry.agree")
def entry_lacks_tool(reply: Json, context: FaultContext) -> Json:
    for tool in listed(reply, context, "tools")[:1]:
        reply["result"]["tools"].append({**tool, "name": "newcomer"})
    return reply


@on_reply(
    "a prompt has another version than its entry says",
    breaks="CONF-CAP-03.registry.agree",
    window=newest_of_each_kind,
)
def entry_old_version(reply: Json, context: FaultContext) -> Json:
    for prompt in listed(reply, context, "prompts"):
        prompt["_meta"][VERSION]["semver"] = "9.0.0"
    return reply
