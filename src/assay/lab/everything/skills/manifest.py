"""Manifests of skills as resources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from assay.lab.everything.declaration import official_check, official_scenario
from assay.lab.everything.fixture import HAS_SKILLS
from assay.lab.harness import FaultContext, Json, Observation, Stage, Trace, observe
from assay.lab.harness.trace.listing import listings
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import no_faults
from assay.lab.suite.self_description import as_object
from assay.lab.suite.skill_entry import name_in, uri_of
from assay.lab.suite.skill_frontmatter import frontmatter_of

from .listing import files_read, on_result, text_in

# --- what is asked


@official_scenario(
    "sep-2640-skills-manifest", "Read the manifest of a skill as a resource", needs=(HAS_SKILLS,)
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


# Requirement → the field of the resource that comes from the frontmatter.
COPIED = {NAME: "name", DESCRIPTION: "description"}


@official_check(
    "sep-2640-skills-manifest",
    "Manifests are resources that match their frontmatter",
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
    name = (frontmatter_of(text_in(exchange) or "") or {}).get("name")
    yield observe(
        SEGMENT,
        name == name_in(uri),
        exchange,
        expected="the name of the directory",
        observed=f"the name {name!r} in {uri}",
    )


def _judge_resource(page: Exchange, exchange: Exchange, resource: dict[str, Any]) -> Iterator[Observation]:
    contents = next(iter(exchange.objects("contents")), {})
    kind = contents.get("mimeType", resource.get("mimeType"))
    if kind is not None:
        holds = kind == MARKDOWN
        yield observe(TYPE, holds, page, exchange, expected=MARKDOWN, observed=f"mimeType {kind!r}")
    fields = frontmatter_of(text_in(exchange) or "") or {}
    for requirement, key in COPIED.items():
        if resource and key in fields:
            holds = resource.get(key) == fields[key]
            expected = f"{key} {fields[key]!r}, as in the manifest"
            observed = f"{key} {resource.get(key)!r}"
            yield observe(requirement, holds, page, exchange, expected=expected, observed=observed)
    keys = {**as_object(contents.get("_meta")), **as_object(resource.get("_meta"))}
    if keys:
        faults = [f"the key {key!r}" for key in keys if not PREFIXED.match(key)]
        yield no_faults(META, faults, page, exchange, expected="keys with the prefix of a domain")


# --- what the checks must catch


def _edit_items(edit: Callable[[Json], None]) -> Callable[[Json, FaultContext], None]:
    def change(result: Json, context: FaultContext) -> None:
        for item in result.get("contents", []) + result.get("resources", []):
            edit(item)

    return change


FAULTS: Final = tuple(
    on_result(fault, id=f"skills.{name}", breaks=breaks, method=f"resources/{verb}")(_edit_items(edit))
    for name, fault, breaks, verb, edit in (
        (
            "manifest-of-another",
            "names another skill in the manifest",
            SEGMENT,
            "read",
            lambda file: file.update(text=file["text"].replace("name: ", "name: another-")),
        ),
        (
            "manifest-is-plain",
            "returns a manifest as text/plain",
            TYPE,
            "read",
            lambda file: file.update(mimeType="text/plain"),
        ),
        (
            "bare-meta-key",
            "lists a key without prefix in `_meta`",
            META,
            "list",
            lambda item: item.update(_meta={"license": "MIT"}),
        ),
        (
            "resource-undescribed",
            "lists a manifest with another description",
            DESCRIPTION,
            "list",
            lambda item: item.update(description="A file"),
        ),
        (
            "resource-named-by-file",
            "lists a manifest under another name",
            NAME,
            "list",
            lambda item: item.update(name="SKILL.md"),
        ),
    )
)
