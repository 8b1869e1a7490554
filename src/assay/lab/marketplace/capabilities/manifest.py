"""The three manifests that a server on HTTP publishes at its origin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness import Trace
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.subject.registry_entry import KINDS, version_of
from assay.lab.harness.trace.digest import digest_of_json, is_digest
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Call
from assay.revisions.revision import Revision

from .meta import is_tier
from .prompt_digest import is_version, knows_all_content

WELL_KNOWN: Final = "/.well-known/mcp-"
PLACES: Final[Mapping[str, str]] = {kind: f"{WELL_KNOWN}{kind}" for kind in KINDS}
Item = dict[str, Any]
Form = Mapping[str, Callable[[Any], bool]]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


REQUIRED: Final[Mapping[str, Form]] = {
    "tools": {"name": _is_text, "scopes": _are_texts, "inputSchemaHash": is_digest},
    "resources": {"name": _is_text, "uri": _is_text, "scopes": _are_texts, "retention": is_tier},
    "prompts": {"name": _is_text, "version": is_version, "digest": is_digest, "scopes": _are_texts},
}
OPTIONAL: Final[Form] = {
    "title": _is_text,
    "description": _is_text,
    "mimeType": _is_text,
    "annotations": _is_object,
}
"""Other fields may stand there, too."""


class Manifest(Struct, frozen=True):
    kind: str
    call: Call
    value: Any

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.call.frames

    @property
    def entries(self) -> list[Item]:
        found = self.value if isinstance(self.value, list) else []
        return [one for one in found if isinstance(one, dict)]

    @property
    def is_there(self) -> bool:
        return isinstance(self.value, list)

    @property
    def problems(self) -> list[str]:
        """What is wrong with its form."""
        return list(_problems(self))


def manifests(trace: Trace) -> Iterator[Manifest]:
    """Every answer to a question for one."""
    kinds = {place: kind for kind, place in PLACES.items()}
    for call in trace.calls:
        kind = kinds.get(call.sent.target)
        if call.sent.method == "GET" and kind is not None and call.head is not None:
            yield Manifest(kind, call, _value(call))


def _value(call: Call) -> Any:
    try:
        return msgspec.json.decode(call.body) if call.status == 200 else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _problems(one: Manifest) -> Iterator[str]:
    head = one.call.head
    if one.call.status != 200:
        yield f"status {one.call.status}"
        return
    if head is not None and head.media_type != JSON:
        yield f"it is {head.media_type or 'of no type'}"
    if not isinstance(one.value, list) or len(one.entries) != len(one.value):
        yield "it is no JSON array of objects"
    listed = [entry["name"] for entry in one.entries if isinstance(entry.get("name"), str)]
    twice = sorted({name for name in listed if listed.count(name) > 1})
    yield from (f"{name!r} is there twice" for name in twice)
    for entry in one.entries:
        yield from _entry_problems(one.kind, entry)


def _entry_problems(kind: str, entry: Item) -> Iterator[str]:
    bad = [key for key, good in REQUIRED[kind].items() if not good(entry.get(key))]
    bad += [key for key, good in OPTIONAL.items() if key in entry and not good(entry[key])]
    yield from (f"{key} of {entry.get('name')!r} is {entry.get(key)!r}" for key in bad)


def _tool(tool: Item) -> Item:
    return {"inputSchemaHash": digest_of_json(tool.get("inputSchema"))}


def _resource(resource: Item) -> Item:
    return {"uri": resource.get("uri")}


def _prompt(prompt: Item) -> Item:
    said = version_of(prompt)
    return {"version": said.get("semver"), "digest": said.get("digest")}


_LIVE: Final = {"tools": _tool, "resources": _resource, "prompts": _prompt}


def disagreements(manifest: Manifest, listed: list[Item], revision: Revision) -> list[str]:
    """Where a manifest and a list differ. Prompts have another digest where their content must be put
    otherwise: those are left out then."""
    kind, left_out = manifest.kind, () if knows_all_content(revision) else ("digest",)
    told = {str(one.get("name")): one for one in manifest.entries}
    live = {str(one.get("name")): _LIVE[kind](one) for one in listed}
    lacking = [f"{name!r} is listed and not in the manifest" for name in live.keys() - told.keys()]
    surplus = [f"{name!r} is in the manifest and not listed" for name in told.keys() - live.keys()]
    drifted = [
        f"{key} of {name!r} is {told[name].get(key)!r}, live {value!r}"
        for name in live.keys() & told.keys()
        for key, value in live[name].items()
        if told[name].get(key) != value and key not in left_out
    ]
    return sorted(lacking) + sorted(surplus) + sorted(drifted)
