"""The resource that clients watch, and how a server can be made to change it."""

from __future__ import annotations

from secrets import token_hex
from typing import Any, Final

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.choice import CHANGING, tools_that
from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.server_stream import open_ears
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import declares
from assay.lab.harness.subject.facts import Facts

from .fixture import fixture_resource

WATCHED: Final = "test://watched-resource"
NEEDS: Final = (declares("resources", "subscribe"), fixture_resource(WATCHED))


def changing_tool(facts: Facts) -> dict[str, Any] | None:
    """A tool that says it changes the resource; it is no fixture of the official suite."""
    found = tools_that(CHANGING, facts)
    return next((tool for tool in found if "watched" in f"{tool['name']} {tool.get('description')}"), None)


async def watch(stage: Stage) -> tuple[Peer, dict[str, Any] | None]:
    """Subscribe to the resource, and change it; the tool that did, if that was heard of."""
    peer = await stage.open()
    hears = await open_ears(stage, peer)
    await peer.request("resources/subscribe", {"uri": WATCHED})
    tool = changing_tool(stage.facts)
    heard = hears and tool is not None and await heard_of_change(peer, tool)
    return peer, tool if heard else None


async def change(peer: Peer, tool: dict[str, Any]) -> bool:
    """Let the tool write something new; whether two readings of the resource show it."""
    before = await _read(peer)
    await peer.call(tool, {**arguments_for(tool), **_new_texts(tool)})
    return bool(await _read(peer) != before)


async def heard_of_change(peer: Peer, tool: dict[str, Any]) -> bool:
    """Change the resource, and wait for the update if it did change."""
    return await change(peer, tool) and await peer.hear(UPDATED, peer.ears, uri=WATCHED) is not None


def _new_texts(tool: dict[str, Any]) -> dict[str, str]:
    """For every open text of the tool's: others may be writing theirs at the same time."""
    schema = tool.get("inputSchema")
    known = schema.get("properties") if isinstance(schema, dict) else None
    return {
        name: f"written by the lab, {token_hex(4)}"
        for name, part in (known if isinstance(known, dict) else {}).items()
        if isinstance(part, dict) and part.get("type") == "string" and "enum" not in part
    }


async def _read(peer: Peer) -> Any:
    return (await peer.request("resources/read", {"uri": WATCHED})).result.get("contents")
