"""The profile block in a server's registry entry (`server.json`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from assay.lab.harness.trace.digest import canonical_json, digest_of, digest_of_json
from assay.lab.harness.transport import Transport

PUBLISHER: Final = "io.modelcontextprotocol.registry/publisher-provided"
PROFILE: Final = "dev.assay/profile"
PROFILE_ID: Final = "intelgraph/2026-11"
PROFILE_IDS: Final = ("intelgraph/2025-10", PROFILE_ID)
"""The editions that an entry may name; the last one is written."""
VERSION: Final = "dev.assay/version"
"""`_meta` key of a prompt's version and digest."""
TRANSPORTS: Final[Mapping[Transport, str]] = {
    Transport.STDIO: "stdio",
    Transport.HTTP: "streamable-http",
}
"""Names of the transports in a registry."""
Item = dict[str, Any]


def profile_block(entry: Any) -> dict[str, Any]:
    """The profile block of an entry; empty if there is none."""
    return as_object(as_object(as_object(as_object(entry).get("_meta")).get(PUBLISHER)).get(PROFILE))


def as_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def version_of(prompt: Item) -> dict[str, Any]:
    """The version block of a prompt, or of the result of `prompts/get`."""
    return as_object(as_object(prompt.get("_meta")).get(VERSION))


def _tool(tool: Item) -> Item:
    return {"name": tool.get("name"), "inputSchemaHash": digest_of_json(tool.get("inputSchema"))}


def _resource(resource: Item) -> Item:
    return {"name": resource.get("name"), "uri": resource.get("uri")}


def _prompt(prompt: Item) -> Item:
    return {"name": prompt.get("name"), "version": version_of(prompt).get("semver")}


_IDENTIFIERS: Final = {"tools": _tool, "resources": _resource, "prompts": _prompt}
KINDS: Final = tuple(_IDENTIFIERS)


def summary(kind: str, items: Sequence[Item]) -> dict[str, Any]:
    """The number of items, and the SHA-256 of the canonical list of their identifiers sorted by name:
    `[{"inputSchemaHash":…,"name":…},…]` for tools, name and uri for resources, name and version for
    prompts."""
    identifiers = sorted(map(_IDENTIFIERS[kind], items), key=lambda item: str(item["name"]))
    digest = digest_of(canonical_json(identifiers) or b"")
    return {"n": len(items), "sha256": digest.partition(":")[2]}


def prompt_versions(prompts: Iterable[Item]) -> dict[str, Any]:
    """Version and digest of each prompt, in the layout of the entry."""
    blocks = {str(prompt.get("name")): version_of(prompt) for prompt in prompts}
    return {
        "versions": {name: block.get("semver") for name, block in blocks.items()},
        "digests": {name: block.get("digest") for name, block in blocks.items()},
    }


def capabilities_block(lists: Mapping[str, Sequence[Item]]) -> dict[str, Any]:
    """The part of the profile block that describes the three lists."""
    summaries = {kind: summary(kind, lists.get(kind, ())) for kind in KINDS}
    return {**summaries, "prompts": {**summaries["prompts"], **prompt_versions(lists.get("prompts", ()))}}


def entry_of(lists: Mapping[str, Sequence[Item]], revisions: Sequence[str]) -> dict[str, Any]:
    """A correct entry for a bundled server, used in trials of saboteurs."""
    block = {
        "id": PROFILE_ID,
        "transports": list(TRANSPORTS.values()),
        "protocolVersions": list(revisions),
        "jsonrpc": {"batch": False},
        "capabilities": capabilities_block(lists),
    }
    return {
        "name": "dev.assay/reference",
        "description": "The healthy server in trials",
        "version": "0.0.0",
        "_meta": {PUBLISHER: {PROFILE: block}},
    }
