"""How the reference server describes itself in every revision."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types
import pytest

from assay import Strictness
from assay.bundled.reference import make_server
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision, TaskForm
from tests.bundled.reference.driving import ask_described, client_of
from tests.driving.client import SESSIONED, TRANSPORTS

CHANGING = {"listChanged": True}
DECLARED: dict[str, Any] = {
    "tools": CHANGING,
    "resources": {"subscribe": True, **CHANGING},
    "prompts": CHANGING,
    "logging": {},
    "completions": {},
    "models": {},
    "metadata": {},
}
EXTENSIONS: dict[str, Any] = {
    "io.modelcontextprotocol/ui": {},
    "io.modelcontextprotocol/skills": {"directoryRead": True},
}
"""Those of every revision."""


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_initialize_describes_the_server(transport: str, revision: Revision) -> None:
    async with client_of(make_server(), revision, transport, handshake=False) as client:
        opened = await client.shake_hands()
    assert (opened["serverInfo"]["name"], opened["serverInfo"]["version"]) == ("RefMCP-TestServer", "1.0.0")
    assert opened["serverInfo"]["title"] and opened["serverInfo"]["icons"] and opened["instructions"]
    known = {name for name in DECLARED if name in revision.capabilities} | {"models", "metadata"}
    promised = DECLARED if transport in SESSIONED else {name: {} for name in DECLARED}
    tasks = opened["capabilities"].pop("tasks", None)
    assert opened["capabilities"].pop("extensions") == EXTENSIONS
    assert opened["capabilities"] == {name: promised[name] for name in known}
    listed = {"list": {}} if transport in ("memory", "stdio") else {}
    declared = {**listed, "cancel": {}, "requests": {"tools": {"call": {}}}}
    assert tasks == (declared if revision.tasks is TaskForm.CORE else None)


async def test_discover_declares_the_same_and_extensions() -> None:
    capabilities = (await ask_described(make_server(), "server/discover"))["result"]["capabilities"]
    extensions = capabilities.pop("extensions")
    assert set(capabilities) == set(DECLARED)
    assert extensions == {
        "dev.assay/models": {},
        "dev.assay/metadata": {},
        "io.modelcontextprotocol/tasks": {},
        **EXTENSIONS,
    }


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_the_official_types_accept_the_answer_to_initialize(revision: Revision) -> None:
    async with client_of(make_server(), revision, handshake=False) as client:
        opened = await client.shake_hands()
    parsed = mcp_types.InitializeResult.model_validate(opened)
    assert parsed.capabilities.tools is not None and parsed.capabilities.experimental is None


CONTRADICTING = ["version_header", "unknown_tool", "single"]
"""Rules that refuse what conforming clients may do."""


def rules_of(strictness: Strictness) -> list[str]:
    return [name for name in Strictness.__struct_fields__ if getattr(strictness, name)]


def test_strict_enforces_all_rules_that_do_not_contradict_the_specification() -> None:
    every = list(Strictness.__struct_fields__)
    assert rules_of(make_server(strict=True).strictness) + CONTRADICTING == every
    assert rules_of(make_server().strictness) == []


def test_seed_compat_adds_the_rules_of_the_first_design() -> None:
    assert rules_of(make_server(seed_compat=True).strictness) == ["version_header", "unknown_tool"]
    both = make_server(strict=True, seed_compat=True).strictness
    assert rules_of(both) == [
        *rules_of(make_server(strict=True).strictness),
        "version_header",
        "unknown_tool",
    ]


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
@pytest.mark.parametrize("transport", [name for name in SESSIONED if name != "http"])
async def test_strict_waits_for_initialized_on_every_link(transport: str, revision: Revision) -> None:
    """`tests/transport/test_strictness.py` covers HTTP."""
    async with client_of(make_server(strict=True), revision, transport, handshake=False) as client:
        params = {
            "protocolVersion": revision.date,
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        assert (await client.result("initialize", params))["protocolVersion"] == revision.date
        assert await client.result("ping") == {}
        assert (await client.error("tools/list"))["code"] == -32600
        await client.notify("notifications/initialized")
        assert (await client.result("tools/list"))["tools"]


async def test_two_servers_share_nothing() -> None:
    server, other = make_server(), make_server()
    async with (
        asyncio.timeout(5),
        client_of(server, HANDSHAKE[-1]) as first,
        client_of(other, HANDSHAKE[-1]) as second,
    ):
        await first.call("edit_resource", text="changed")
        await first.call("load_plugin")
        notes = {"uri": "file:///resources/notes.txt"}
        assert (await first.result("resources/read", notes))["contents"][0]["text"] == "changed"
        assert (await second.result("resources/read", notes))["contents"][0]["text"] != "changed"
        assert len((await second.result("prompts/list"))["prompts"]) == 3
