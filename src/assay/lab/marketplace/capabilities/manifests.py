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
    on_result,
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
    VERSION,
    as_object,
    capabilities_block,
    profile_block,
)
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.listing import Listing, declaration, listings
from assay.lab.harness.transport import HTTP_ONLY, Transport
from assay.lab.marketplace.bad_message import BadMessage, deliver, plain_request
from assay.lab.marketplace.declaration import BOTH, profile_check
from assay.revisions.revision import Batching, Opening

from .effect import shared_access
from .manifest import PLACES, REQUIRED, disagreements, manifests
from .meta import knows_all_content

AGREE: Final = "CONF-CAP-03.manifests.agree"
FORM: Final = "CONF-CAP-03.manifests.form"
REGISTERED: Final = "CONF-CAP-03.registry.agree"
BATCH: Final = "a batch"
BATCHED: Final = "batched"
"""The id of the request in it."""
MAX_PROBLEMS: Final = 5

# --- what is asked


async def _read_lists(stage: Stage, peer: Peer) -> None:
    for kind in KINDS:
        if kind in stage.facts.capabilities:
            await peer.pages(f"{kind}/list", kind)


@scenario("Fetch the manifests and read the lists", exercises=("cap.manifests",), transports=HTTP_ONLY)
async def drive_manifests(stage: Stage) -> None:
    peer = await stage.open()
    async with shared_access(stage):
        await _read_lists(stage, peer)
        for place in PLACES.values():
            sent = await peer.http.call("GET", headers={"Accept": JSON}, target=place)
            await peer.http.follow(sent)
        await _read_lists(stage, peer)


@scenario(
    "Compare the registry entry with the server",
    exercises=("cap.registry",),
    needs=(A_REGISTRY_ENTRY,),
    transports=BOTH,
)
async def drive_registry(stage: Stage) -> None:
    stage.note(REGISTRY, entry=stage.out_of_band.registry)
    peer = await stage.open()
    if stage.revision.opening is Opening.PER_REQUEST:
        await peer.request("server/discover")
    async with shared_access(stage):
        await _read_lists(stage, peer)
    if stage.revision.batching is not Batching.REFUSED:
        async with peer.probe(BATCH):
            members = [plain_request(stage, BATCHED)]
            await deliver(peer, BadMessage("batch", BATCH, members, (BATCHED,), answered=True))


# --- how it is judged


@profile_check("Manifests agree with the lists", requirements=(FORM, AGREE), transports=HTTP_ONLY)
def judge_manifests(trace: Trace) -> Iterator[Observation]:
    for manifest in manifests(trace):
        kind, place, problems = manifest.kind, PLACES[manifest.kind], manifest.problems
        fields = ", ".join(REQUIRED[kind])
        expected = f"at {place}, {JSON}: an array of objects with unique names, each with {fields}"
        observed = "; ".join(problems[:MAX_PROBLEMS])
        yield observe(FORM, not problems, manifest, expected=expected, observed=observed)
        live = _complete_lists(trace, kind)
        if isinstance(manifest.value, list) and live:
            # A list may change meanwhile: the manifest has to agree with one reading.
            differences = [disagreements(manifest, listing.items, trace.revision) for listing in live]
            expected = f"in {place}, exactly the items of {kind}/list"
            observed = "; ".join(differences[-1][:MAX_PROBLEMS])
            holds = not all(differences)
            yield observe(AGREE, holds, manifest, *live, expected=expected, observed=observed)


def _complete_lists(trace: Trace, kind: str) -> list[Listing]:
    return [listing for listing in listings(trace, f"{kind}/list", kind) if listing.complete]


@profile_check("The registry entry agrees with the server", requirements=(REGISTERED,))
def judge_registry(trace: Trace) -> Iterator[Observation]:
    for note in trace.marks(REGISTRY):
        block = profile_block(note.info.get("entry"))
        expected = f'_meta["{PUBLISHER}"]["{PROFILE}"] in the entry'
        yield observe(REGISTERED, bool(block), note, expected=expected, observed="none")
        if block:
            yield from _judge_transport(trace, note, block)
            yield from _judge_batches(trace, note, as_object(block.get("jsonrpc")).get("batch"))
            yield from _judge_lists(trace, note, as_object(block.get("capabilities")))


def _judge_transport(trace: Trace, note: Frame, block: Mapping[str, Any]) -> Iterator[Observation]:
    here = {"transports": TRANSPORTS[Transport(trace.transport)], "protocolVersions": trace.revision.date}
    for key, value in here.items():
        entry = block.get(key)
        holds = isinstance(entry, list) and value in entry
        expected, observed = f"{key} with {value}, which the server supports", f"{key}: {entry!r}"
        yield observe(REGISTERED, holds, note, expected=expected, observed=observed)


def _judge_batches(trace: Trace, note: Frame, entry: Any) -> Iterator[Observation]:
    holds, expected = isinstance(entry, bool), "jsonrpc.batch, true or false"
    yield observe(REGISTERED, holds, note, expected=expected, observed=f"{entry!r}")
    for probe in trace.probes(BATCH):
        accepted = any("result" in answer.fields for answer in probe.answers)
        answers = ", ".join(map(str, probe.answers)) or "nothing"
        expected = f"jsonrpc.batch is {str(accepted).lower()}"
        observed = f"{entry!r}, and a batch is answered with {answers}"
        holds = accepted is (entry is True)
        yield observe(REGISTERED, holds, note, probe, expected=expected, observed=observed)


def _judge_lists(trace: Trace, note: Frame, entry: Json) -> Iterator[Observation]:
    """The entry has to agree with one reading of each list, as lists may change meanwhile.

    Resources whose list changes, as the server declares, may differ from an older entry.
    """
    declared = declaration(trace)
    changing = declared is not None and declared.has("resources", "listChanged")
    ignored = () if knows_all_content(trace.revision) else ("digests",)
    for kind in KINDS:
        live = _complete_lists(trace, kind)
        blocks = [capabilities_block({kind: listing.items})[kind] for listing in live]
        if live and not (changing and kind == "resources"):
            part = as_object(entry.get(kind))
            holds = any(
                all(part.get(key) == value for key, value in block.items() if key not in ignored)
                for block in blocks
            )
            expected = f"capabilities.{kind} {blocks[-1]}, as in {kind}/list"
            observed = f"{entry.get(kind)!r}"
            yield observe(REGISTERED, holds, note, *live, expected=expected, observed=observed)


# --- what the checks must catch


def _is_manifest(context: FaultContext) -> bool:
    return context.call is not None and context.call.target in PLACES.values()


def _adds_tool(result: Json, context: FaultContext) -> None:
    result["tools"] += [{**tool, "name": "newcomer"} for tool in result["tools"][:1]]


LACKING: Final = (
    on_result(
        "publishes a manifest without one of its tools",
        id="cap.manifest-lacks-tool",
        breaks=AGREE,
        method="tools/list",
        transports=HTTP_ONLY,
        window=newest_of_each_kind,
    )(_adds_tool),
    on_result(
        "is registered without one of its tools",
        id="cap.entry-lacks-tool",
        breaks=REGISTERED,
        method="tools/list",
    )(_adds_tool),
)


@on_reply(
    "publishes an older version of a prompt", breaks=AGREE, transports=HTTP_ONLY, window=newest_of_each_kind
)
def manifest_old_version(reply: Json, context: FaultContext) -> Json:
    return {**reply, "version": "0.0.1"} if _is_manifest(context) and "version" in reply else reply


@on_result("publishes an older schema of a tool", breaks=AGREE, method="tools/list", transports=HTTP_ONLY)
def schema_drifted(result: Json, context: FaultContext) -> None:
    for tool in result["tools"]:
        tool["inputSchema"]["description"] = "Changed since"


@on_response("publishes a manifest as HTML", breaks=FORM, window=newest_of_each_kind)
def manifest_page(response: Response, context: FaultContext) -> None:
    if _is_manifest(context):
        response.set("Content-Type", "text/html")
        response.body = b"<p>Our tools</p>"


@on_reply(
    "publishes prompts without a version", breaks=FORM, transports=HTTP_ONLY, window=newest_of_each_kind
)
def manifest_unversioned(reply: Json, context: FaultContext) -> Json:
    if _is_manifest(context):
        reply.pop("version", None)
    return reply


@on_call("publishes no manifest", breaks=FORM, window=newest_of_each_kind)
def no_manifests(request: Request, context: FaultContext) -> Response | None:
    return Response([], 404) if _is_manifest(context) else None


@on_reply("publishes a manifest with duplicate names", breaks=FORM, transports=HTTP_ONLY)
def one_name(reply: Json, context: FaultContext) -> Json:
    return {**reply, "name": "same"} if _is_manifest(context) else reply


@on_batch(
    "accepts batches, although its entry does not list them",
    breaks=REGISTERED,
    window=lambda revision: revision.batching is not Batching.REFUSED,
)
def batches_unlisted(messages: list[Any], context: FaultContext) -> list[Any] | LocalAnswer:
    requests = [message for message in messages if "id" in message]
    return LocalAnswer([[{"jsonrpc": "2.0", "id": request["id"], "result": {}} for request in requests]])


@on_result(
    "lists a newer version of a prompt than its entry",
    breaks=REGISTERED,
    method="prompts/list",
    window=newest_of_each_kind,
)
def entry_old_version(result: Json, context: FaultContext) -> None:
    for prompt in result["prompts"]:
        prompt["_meta"][VERSION]["semver"] = "9.0.0"
