"""The three manifests that an HTTP server publishes at its origin."""

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

from .meta import is_tier, is_version, knows_all_content

PLACES: Final[Mapping[str, str]] = {kind: f"/.well-known/mcp-{kind}" for kind in KINDS}
Item = dict[str, Any]
Form = Mapping[str, Callable[[Any], bool]]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


REQUIRED: Final[Mapping[str, Form]] = {
    "tools": {"name": _is_text, "scopes": _are_texts, "inputSchemaHash": is_digest},
    "resources": {"name": _is_text, "uri": _is_text, "scopes": _are_texts, "retention": is_tier},
    "prompts": {"name": _is_text, "version": is_version, "digest": is_digest, "scopes": _are_texts},
}
OPTIONAL: Final[Form] = {
    **dict.fromkeys(("title", "description", "mimeType"), _is_text),
    "annotations": lambda value: isinstance(value, dict),
}
"""An entry may have other fields as well."""


class Manifest(Struct, frozen=True):
    kind: str
    call: Call
    value: Any

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.call.frames

    @property
    def entries(self) -> list[Item]:
        value = self.value if isinstance(self.value, list) else []
        return [entry for entry in value if isinstance(entry, dict)]

    @property
    def problems(self) -> list[str]:
        """What is wrong with its form."""
        return list(_problems(self))


def manifests(trace: Trace) -> Iterator[Manifest]:
    """Every answer to a request for a manifest."""
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


def _problems(manifest: Manifest) -> Iterator[str]:
    head, entries = manifest.call.head, manifest.entries
    if manifest.call.status != 200:
        yield f"status {manifest.call.status}"
        return
    if head is not None and head.media_type != JSON:
        yield f"Content-Type {head.media_type or 'missing'}"
    if not isinstance(manifest.value, list) or len(entries) != len(manifest.value):
        yield "not a JSON array of objects"
    names = [entry["name"] for entry in entries if isinstance(entry.get("name"), str)]
    yield from (
        f"{name!r} occurs twice" for name in sorted({name for name in names if names.count(name) > 1})
    )
    for entry in entries:
        invalid = [key for key, holds in REQUIRED[manifest.kind].items() if not holds(entry.get(key))]
        invalid += [key for key, holds in OPTIONAL.items() if key in entry and not holds(entry[key])]
        yield from (f"{key} of {entry.get('name')!r} is {entry.get(key)!r}" for key in invalid)


def _prompt(prompt: Item) -> Item:
    version = version_of(prompt)
    return {"version": version.get("semver"), "digest": version.get("digest")}


_LIVE: Final[Mapping[str, Callable[[Item], Item]]] = {
    "tools": lambda tool: {"inputSchemaHash": digest_of_json(tool.get("inputSchema"))},
    "resources": lambda resource: {"uri": resource.get("uri")},
    "prompts": _prompt,
}


def disagreements(manifest: Manifest, listed: list[Item], revision: Revision) -> list[str]:
    """How a manifest differs from a list. Digests of prompts count only in revisions with all content."""
    ignored = () if knows_all_content(revision) else ("digest",)
    entries = {str(entry.get("name")): entry for entry in manifest.entries}
    live = {str(item.get("name")): _LIVE[manifest.kind](item) for item in listed}
    missing = [f"{name!r} is listed, but not in the manifest" for name in live.keys() - entries.keys()]
    surplus = [f"{name!r} is in the manifest, but not listed" for name in entries.keys() - live.keys()]
    different = [
        f"{key} of {name!r} is {entries[name].get(key)!r}, live {value!r}"
        for name in live.keys() & entries.keys()
        for key, value in live[name].items()
        if entries[name].get(key) != value and key not in ignored
    ]
    return sorted(missing) + sorted(surplus) + sorted(different)
