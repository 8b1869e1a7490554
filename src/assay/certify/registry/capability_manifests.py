"""The manifests at `.well-known/mcp-tools`, `mcp-resources` and `mcp-prompts`: read, and checked.

What is not known there is warned of, so that newer servers can be read; wrong types and names that come twice
are errors. What a manifest says is a claim: whoever relies on it compares it with the live lists.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from assay.lab.harness.subject.registry_entry import KINDS, version_of
from assay.lab.harness.trace.digest import digest_of_json
from assay.lab.marketplace.capabilities.meta import TIERS

from .form import Check, Issue, anything, digest, many, one_of, record, text

FILES: Final[Mapping[str, str]] = {kind: f"mcp-{kind}.json" for kind in KINDS}
"""What they are called in a directory, for servers that have no HTTP."""

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_ENTRIES: Final = 10_000
SEMVER: Final = r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
Item = dict[str, Any]

_name: Final = text(1, 1024)
_words: Final = text(0, 65_536)
_scopes: Final = many(text(1, 1024), 256)
version: Final = text(1, 255, SEMVER, "a semantic version as 1.2.0")
_told: Final[Mapping[str, Check]] = {"title": _words, "description": _words, "scopes": _scopes}

FORMS: Final[Mapping[str, Check]] = {
    "tools": record(
        {"name": _name},
        {**_told, "inputSchemaHash": digest, "annotations": record({}, {}), "effects": anything},
        "warned",
    ),
    "resources": record(
        {"name": _name}, {**_told, "uri": _name, "mimeType": _words, "retention": one_of(*TIERS)}, "warned"
    ),
    "prompts": record({"name": _name, "version": version}, {**_told, "digest": digest}, "warned"),
}


def read(kind: str, data: bytes) -> tuple[list[Item], list[Issue]]:
    """The entries of a manifest, and what is wrong with it; no entries where it is none at all."""
    if len(data) > MAX_BYTES:
        return [], [Issue("json", "", f"{len(data)} bytes, which is more than {MAX_BYTES}")]
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        return [], [Issue("json", "", f"no JSON: {error}")]
    issues = list(many(FORMS[kind], MAX_ENTRIES)(value, ""))
    entries = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    return entries, [*issues, *_twice(kind, entries)]


def _twice(kind: str, entries: Sequence[Item]) -> Iterator[Issue]:
    """Resources are told apart by their address: several may have one name, as in the lists."""
    key = "uri" if kind == "resources" and all("uri" in entry for entry in entries) else "name"
    found = Counter(str(entry.get(key)) for entry in entries)
    for name, times in found.items():
        if times > 1:
            yield Issue("semantic", "", f"the {key} {name[:80]!r} comes {times} times")


def disagreements(kind: str, entries: Sequence[Item], live: Sequence[Item]) -> list[Issue]:
    """Where a manifest and the live list are not about the same things."""
    claimed = {str(entry.get("name")): entry for entry in entries}
    listed = {str(item.get("name")): item for item in live}
    issues = [
        Issue("semantic", name, "is in the manifest, and not listed") for name in claimed.keys() - listed
    ]
    issues += [
        Issue("semantic", name, "is listed, and not in the manifest") for name in listed.keys() - claimed
    ]
    for name in sorted(claimed.keys() & listed.keys()):
        issues += _drift(kind, name, claimed[name], listed[name])
    return issues


def _drift(kind: str, name: str, entry: Item, item: Item) -> Iterator[Issue]:
    for key, value in made_of(kind, item).items():
        if key in ("inputSchemaHash", "version", "digest", "uri") and entry.get(key, value) != value:
            yield Issue("semantic", f"{name}.{key}", f"is {entry[key]!r}, where the live list has {value!r}")


def made_of(kind: str, item: Item) -> Item:
    """The entry of a manifest for what a list has; scopes and tiers are not in lists."""
    kept: Item = {key: item[key] for key in ("name", "title", "description") if key in item}
    more: Mapping[str, Item] = {
        "tools": {
            "inputSchemaHash": digest_of_json(item.get("inputSchema")),
            "annotations": item.get("annotations"),
        },
        "resources": {"uri": item.get("uri"), "mimeType": item.get("mimeType")},
        "prompts": {"version": version_of(item).get("semver"), "digest": version_of(item).get("digest")},
    }
    return {**kept, **{key: value for key, value in more[kind].items() if value is not None}}
