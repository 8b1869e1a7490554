"""The three manifests: the live lists, in canonical form."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from assay import Server
from assay.profile import Profile
from assay.profile.manifests import LISTS
from assay.signing import canonical
from tests.profile.market import DATES, VERSION, market, result

FULL = {"tools/list": ["see"], "tools/call": ["use"], "resources/read": ["read"], "prompts/get": ["say"]}


def of(value: Any) -> str:
    return f"sha256:{sha256(canonical.encode(value)).hexdigest()}"


async def manifests(profile: Profile) -> dict[str, list[dict[str, Any]]]:
    return {kind: json.loads(body) for kind, body in (await profile.manifests()).items()}


@pytest.mark.parametrize("date", DATES)
async def test_manifests_name_what_is_listed_with_the_same_schemas_and_versions(date: str) -> None:
    profile = Profile(patterns={"*.png": "short-30d"})
    server = market(profile)
    documents = await manifests(profile)
    live = {kind: (await result(server, date, method))[kind] for kind, method in LISTS.items()}
    assert {entry["name"]: entry["inputSchemaHash"] for entry in documents["tools"]} == {
        tool["name"]: of(tool["inputSchema"]) for tool in live["tools"]
    }
    assert [entry["uri"] for entry in documents["resources"]] == [item["uri"] for item in live["resources"]]
    assert {entry["name"]: (entry.get("version"), entry["digest"]) for entry in documents["prompts"]} == {
        item["name"]: (item["_meta"][VERSION].get("semver"), item["_meta"][VERSION]["digest"])
        for item in live["prompts"]
    }


async def test_entries_say_what_the_definition_says() -> None:
    profile = Profile(patterns={"*.png": "short-30d"})
    market(profile)
    documents = await manifests(profile)
    echo = documents["tools"][0]
    assert echo["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    assert documents["resources"] == [
        {"name": "notes", "uri": "file:///notes.txt", "scopes": [], "retention": "legal-hold"},
        {
            "name": "picture",
            "uri": "file:///picture.png",
            "mimeType": "image/png",
            "scopes": [],
            "retention": "short-30d",
        },
    ]


async def test_scopes_are_those_of_the_method_and_of_the_thing() -> None:
    profile = Profile()
    server = market(profile, scopes=FULL)
    server.tool(name="special", scopes=["special", "use"])(lambda: None)
    documents = await manifests(profile)
    assert [tool["scopes"] for tool in documents["tools"]][-2:] == [["use"], ["use", "special"]]
    assert documents["resources"][0]["scopes"] == ["read"]
    assert documents["prompts"][0]["scopes"] == ["say"]


async def test_a_manifest_is_canonical_and_follows_the_lists() -> None:
    profile = Profile()
    server = market(profile)
    before = await profile.manifests()
    assert all(canonical.decode(body) is not None for body in before.values())
    assert await profile.manifests() == before
    server.tools.remove("echo")
    after = await profile.manifests()
    assert "echo" not in [tool["name"] for tool in json.loads(after["tools"])]
    assert after["prompts"] == before["prompts"]


async def test_a_server_with_nothing_has_empty_manifests() -> None:
    profile = Profile()
    Server("empty").use(profile)
    assert await profile.manifests() == {"tools": b"[]", "resources": b"[]", "prompts": b"[]"}
