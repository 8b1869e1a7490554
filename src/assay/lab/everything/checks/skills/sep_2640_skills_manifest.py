"""The resource of a manifest says what the manifest says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaring import official_check
from assay.lab.everything.faults import judged
from assay.lab.everything.frontmatter import frontmatter_of
from assay.lab.everything.skill_entry import name_in
from assay.lab.everything.skill_listing import files_read, text_in
from assay.lab.harness.trace.listing import listings
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.self_description import as_object

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
    "sep-2640-skills-manifest", "Manifests as resources", rows=(TYPE, NAME, DESCRIPTION, SEGMENT, META)
)
def judge(trace: Trace) -> Iterator[Observation]:
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
    yield judged(SEGMENT, faults, exchange, expected="the name of the skill before SKILL.md")


def _judge_resource(page: Exchange, exchange: Exchange, resource: dict[str, Any]) -> Iterator[Observation]:
    contents = next(iter(exchange.objects("contents")), {})
    kind = contents.get("mimeType", resource.get("mimeType"))
    if kind is not None:
        faults = [] if kind == MARKDOWN else [f"mimeType {kind!r}"]
        yield judged(TYPE, faults, page, exchange, expected=MARKDOWN)
    fields = frontmatter_of(text_in(exchange) or "") or {}
    for row, key in COPIED.items():
        if resource and key in fields:
            faults = [] if resource.get(key) == fields[key] else [f"{key} {resource.get(key)!r}"]
            yield judged(row, faults, page, exchange, expected=f"{key} {fields[key]!r}, as in the manifest")
    keys = {**as_object(contents.get("_meta")), **as_object(resource.get("_meta"))}
    if keys:
        faults = [f"the key {key!r}" for key in keys if not PREFIXED.match(key)]
        yield judged(META, faults, page, exchange, expected="keys with the prefix of a domain")
