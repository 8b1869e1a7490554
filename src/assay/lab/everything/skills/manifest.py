"""Manifests of skills."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.double.skills import DOUBLE
from assay.lab.everything.evidence import no_faults
from assay.lab.everything.fixture import HAS_SKILLS
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, on_result
from assay.lab.harness.trace.listing import listings
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.self_description import as_object

from .frontmatter import frontmatter_of
from .listing import files_read, text_in
from .skill_entry import name_in, uri_of

# --- what is asked


@official_scenario(
    "sep-2640-skills-manifest", "The manifest of a skill is a resource like others", needs=(HAS_SKILLS,)
)
async def drive_sep_2640_skills_manifest(stage: Stage) -> None:
    peer = await stage.open()
    items = await peer.pages("resources/list", "resources") + await peer.pages("skills/list", "skills")
    uris = [uri_of(item) for item in items if isinstance(item, dict)]
    manifest = next((uri for uri in uris if uri and name_in(uri)), None)
    if manifest is not None:
        await peer.request("resources/read", {"uri": manifest})


# --- how it is judged


TYPE = "sep-2640-skillmd-mimetype"
NAME = "sep-2640-skillmd-metadata-name"
DESCRIPTION = "sep-2640-skillmd-metadata-description"
SEGMENT = "sep-2640-final-segment-equals-name"
META = "sep-2640-meta-prefix"
MARKDOWN = "text/markdown"
PREFIXED = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+/", re.IGNORECASE)


# Row → the field of the resource that is set from the frontmatter.
COPIED = {NAME: "name", DESCRIPTION: "description"}


@official_check(
    "sep-2640-skills-manifest",
    "Manifests as resources",
    requirements=(TYPE, NAME, DESCRIPTION, SEGMENT, META),
)
def judge_sep_2640_skills_manifest(trace: Trace) -> Iterator[Observation]:
    listed = {
        str(item.get("uri")): (page, item)
        for listing in listings(trace, "resources/list", "resources")
        for page in listing.pages
        for item in page.objects("resources")
    }
    for uri, exchange in files_read(trace).items():
        if name_in(uri) is not None:
            page, resource = listed.get(uri, (exchange, {}))
            yield from _judge_read(uri, exchange)
            yield from _judge_resource(page, exchange, resource)


def _judge_read(uri: str, exchange: Exchange) -> Iterator[Observation]:
    text = text_in(exchange)
    fields = frontmatter_of(text) if text is not None else None
    name = (fields or {}).get("name")
    faults = [] if name == name_in(uri) else [f"the name {name!r} in {uri}"]
    yield no_faults(SEGMENT, faults, exchange, expected="the name of the skill before SKILL.md")


def _judge_resource(page: Exchange, exchange: Exchange, resource: dict[str, Any]) -> Iterator[Observation]:
    contents = next(iter(exchange.objects("contents")), {})
    kind = contents.get("mimeType", resource.get("mimeType"))
    if kind is not None:
        faults = [] if kind == MARKDOWN else [f"mimeType {kind!r}"]
        yield no_faults(TYPE, faults, page, exchange, expected=MARKDOWN)
    fields = frontmatter_of(text_in(exchange) or "") or {}
    for row, key in COPIED.items():
        if resource and key in fields:
            faults = [] if resource.get(key) == fields[key] else [f"{key} {resource.get(key)!r}"]
            yield no_faults(
                row, faults, page, exchange, expected=f"{key} {fields[key]!r}, as in the manifest"
            )
    keys = {**as_object(contents.get("_meta")), **as_object(resource.get("_meta"))}
    if keys:
        faults = [f"the key {key!r}" for key in keys if not PREFIXED.match(key)]
        yield no_faults(META, faults, page, exchange, expected="keys with the prefix of a domain")


# --- what the checks must catch


@on_result(
    "the name in the manifest is not that of its directory",
    breaks="sep-2640-final-segment-equals-name",
    double=DOUBLE,
    method="resources/read",
)
def manifest_of_another(result: Json, context: FaultContext) -> None:
    for file in result["contents"]:
        file["text"] = file["text"].replace("name: ", "name: another-")


@on_result(
    "a key in `_meta` has no prefix", breaks="sep-2640-meta-prefix", double=DOUBLE, method="resources/list"
)
def bare_meta_key(result: Json, context: FaultContext) -> None:
    for item in result["resources"]:
        item["_meta"] = {"license": "MIT"}


@on_result(
    "the resource of a manifest has another description",
    breaks="sep-2640-skillmd-metadata-description",
    double=DOUBLE,
    method="resources/list",
)
def resource_undescribed(result: Json, context: FaultContext) -> None:
    for item in result["resources"]:
        item["description"] = "A file"


@on_result(
    "the resource of a manifest has another name",
    breaks="sep-2640-skillmd-metadata-name",
    double=DOUBLE,
    method="resources/list",
)
def resource_named_by_file(result: Json, context: FaultContext) -> None:
    for item in result["resources"]:
        item["name"] = "SKILL.md"


@on_result(
    "the type of a manifest is text/plain",
    breaks="sep-2640-skillmd-mimetype",
    double=DOUBLE,
    method="resources/read",
)
def manifest_is_plain(result: Json, context: FaultContext) -> None:
    for file in result["contents"]:
        file["mimeType"] = "text/plain"
