"""Read and check the manifests at `.well-known/mcp-tools`, `mcp-resources` and `mcp-prompts`.

Unknown members are warnings, so that manifests of newer servers stay readable; wrong types and duplicate
names are errors. A manifest is only a claim: compare it with the live lists before relying on it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from assay.lab.harness.subject.registry_entry import KINDS, version_of
from assay.lab.harness.trace.digest import digest_of_json
from assay.lab.marketplace.capabilities.meta import TIERS

from .form import Issue, Validator, anything, digest, many, one_of, record, text

FILES: Final[Mapping[str, str]] = {kind: f"mcp-{kind}.json" for kind in KINDS}
"""Their file names, for servers without HTTP."""

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_ENTRIES: Final = 10_000
SEMVER: Final = r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
Item = dict[str, Any]

_name: Final = text(1, 1024)
_words: Final = text(0, 65_536)
_scopes: Final = many(text(1, 1024), 256)
version: Final = text(1, 255, SEMVER, "a semantic version such as 1.2.0")
_COMMON: Final[Mapping[str, Validator]] = {"title": _words, "description": _words, "scopes": _scopes}

FORMS: Final[Mapping[str, Validator]] = {
    "tools": record(
        {"name": _name},
        {**_COMMON, "inputSchemaHash": digest, "annotations": record({}, {}), "effects": anything},
        "warned",
    ),
    "resources": record(
        {"name": _name}, {**_COMMON, "uri": _name, "mimeType": _words, "retention": one_of(*TIERS)}, "warned"
    ),
    "prompts": record({"name": _name, "version": version}, {**_COMMON, "digest": digest}, "warned"),
}


def read(kind: str, data: bytes) -> tuple[list[Item], list[Issue]]:
    """The entries of a manifest, and its issues; no entries if it is not a manifest."""
    if len(data) > MAX_BYTES:
        return [], [Issue("json", "", f"{len(data)} bytes exceed the limit of {MAX_BYTES}")]
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        return [], [Issue("json", "", f"not JSON: {error}")]
    issues = list(many(FORMS[kind], MAX_ENTRIES)(value, ""))
    entries = [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
    return entries, [*issues, *_duplicates(kind, entries)]


def _duplicates(kind: str, entries: Sequence[Item]) -> Iterator[Issue]:
    """Resources are identified by their URI: as in the lists, several may share a name."""
    key = "uri" if kind == "resources" and all("uri" in entry for entry in entries) else "name"
    counts = Counter(str(entry.get(key)) for entry in entries)
    for name, times in counts.items():
        if times > 1:
            yield Issue("semantic", "", f"the {key} {name[:80]!r} occurs {times} times")


def disagreements(kind: str, entries: Sequence[Item], live: Sequence[Item]) -> list[Issue]:
    """Where a manifest and the live list differ."""
    claimed = {str(entry.get("name")): entry for entry in entries}
    listed = {str(item.get("name")): item for item in live}
    issues = [
        Issue("semantic", name, "is in the manifest but not in the list") for name in claimed.keys() - listed
    ]
    issues += [
        Issue("semantic", name, "is in the list but not in the manifest") for name in listed.keys() - claimed
    ]
    for name in sorted(claimed.keys() & listed.keys()):
        issues += _drift(kind, name, claimed[name], listed[name])
    return issues


def _drift(kind: str, name: str, entry: Item, item: Item) -> Iterator[Issue]:
    for key, value in manifest_entry(kind, item).items():
        if key in ("inputSchemaHash", "version", "digest", "uri") and entry.get(key, value) != value:
            yield Issue("semantic", f"{name}.{key}", f"is {entry[key]!r}, but the live list has {value!r}")


def manifest_entry(kind: str, item: Item) -> Item:
    """The manifest entry of a listed item; lists contain no scopes and retention tiers."""
    common: Item = {key: item[key] for key in ("name", "title", "description") if key in item}
    more: Mapping[str, Item] = {
        "tools": {
            "inputSchemaHash": digest_of_json(item.get("inputSchema")),
            "annotations": item.get("annotations"),
        },
        "resources": {"uri": item.get("uri"), "mimeType": item.get("mimeType")},
        "prompts": {"version": version_of(item).get("semver"), "digest": version_of(item).get("digest")},
    }
    return {**common, **{key: value for key, value in more[kind].items() if value is not None}}
