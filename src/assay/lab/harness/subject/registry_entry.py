"""A server's entry in a registry (`server.json`): the block in which its publisher claims the profile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from assay.lab.harness.trace.digest import canonical_json, digest_of, digest_of_json
from assay.lab.harness.transport import Transport

PUBLISHER: Final = "io.modelcontextprotocol.registry/publisher-provided"
PROFILE: Final = "dev.assay/profile"
PROFILE_ID: Final = "intelgraph/2025-10"
VERSION: Final = "dev.assay/version"
"""Where a prompt tells its version and digest, in `_meta`."""
TRANSPORTS: Final[Mapping[Transport, str]] = {
    Transport.STDIO: "stdio",
    Transport.HTTP: "streamable-http",
}
"""What a registry calls them."""
Item = dict[str, Any]


def profile_block(entry: Any) -> dict[str, Any]:
    """What the entry claims; empty where it claims nothing."""
    return as_object(as_object(as_object(as_object(entry).get("_meta")).get(PUBLISHER)).get(PROFILE))


def as_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def version_of(prompt: Item) -> dict[str, Any]:
    """What a prompt, or the result of getting one, says of its version."""
    return as_object(as_object(prompt.get("_meta")).get(VERSION))


def _tool(tool: Item) -> Item:
    return {"name": tool.get("name"), "inputSchemaHash": digest_of_json(tool.get("inputSchema"))}


def _resource(resource: Item) -> Item:
    return {"name": resource.get("name"), "uri": resource.get("uri")}


def _prompt(prompt: Item) -> Item:
    return {"name": prompt.get("name"), "version": version_of(prompt).get("semver")}


_TOLD: Final = {"tools": _tool, "resources": _resource, "prompts": _prompt}
KINDS: Final = tuple(_TOLD)


def summary(kind: str, items: Sequence[Item]) -> dict[str, Any]:
    """How many there are, and the SHA-256 of the canonical list of what tells them apart, in the order of
    their names: `[{"inputSchemaHash":…,"name":…},…]` for tools, name and uri for resources, name and version
    for prompts."""
    told = sorted((_TOLD[kind](item) for item in items), key=lambda one: str(one["name"]))
    written = canonical_json(told) or b""
    return {"n": len(items), "sha256": digest_of(written).partition(":")[2]}


def prompt_versions(prompts: Iterable[Item]) -> dict[str, Any]:
    """The version and digest of each, as the entry has them."""
    said = {str(prompt.get("name")): version_of(prompt) for prompt in prompts}
    return {
        "versions": {name: about.get("semver") for name, about in said.items()},
        "digests": {name: about.get("digest") for name, about in said.items()},
    }


def capabilities_block(lists: Mapping[str, Sequence[Item]]) -> dict[str, Any]:
    """What the block says of the three lists."""
    counted = {kind: summary(kind, lists.get(kind, ())) for kind in KINDS}
    return {**counted, "prompts": {**counted["prompts"], **prompt_versions(lists.get("prompts", ()))}}


def entry_of(lists: Mapping[str, Sequence[Item]], revisions: Sequence[str]) -> dict[str, Any]:
    """A true entry of a bundled server, for trials."""
    block = {
        "id": PROFILE_ID,
        "transports": list(TRANSPORTS.values()),
        "protocolVersions": list(revisions),
        "jsonrpc": {"batch": False},
        "capabilities": capabilities_block(lists),
    }
    return {
        "name": "dev.assay/reference",
        "description": "The healthy server of trials",
        "version": "0.0.0",
        "_meta": {PUBLISHER: {PROFILE: block}},
    }
