"""Requests that describe themselves, or do not; tools that show what else has changed; two listeners."""

from __future__ import annotations

from typing import Any, Final

from assay.lab.everything.declaring import official_scenario
from assay.lab.everything.stateless_probe import (
    ASKS,
    LOGS,
    NEEDS_SAMPLING,
    NO_VERSION,
    RETIRED,
    UNASKED_LOG,
    UNKNOWN,
)
from assay.lab.harness.driver.list_change import LISTS
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, CLIENT_KEY, LOG_LEVEL_KEY, VERSION_KEY
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.transport import Transport
from assay.lab.suite.listening import ACKNOWLEDGED
from assay.lab.suite.mirrored import VERSION
from assay.lab.suite.subscription import LISTEN

DISCOVER: Final = "server/discover"
TRIGGERS: Final = {"tools": "test_trigger_tool_change", "prompts": "test_trigger_prompt_change"}
"""Fixtures that make the server tell of a change; they need not be listed."""


@official_scenario("server-stateless", "Requests that describe themselves")
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    for method in (DISCOVER, "prompts/list", "tools/list"):
        await peer.request(method)
    await peer.request(DISCOVER, {"_meta": {CLIENT_KEY: None}})
    await _incomplete(peer)
    await peer.request(DISCOVER, {"_meta": {VERSION_KEY: NO_VERSION}})
    if stage.transport is Transport.HTTP:
        differs = {VERSION: stage.revision.date}
        await peer.request(DISCOVER, {"_meta": {VERSION_KEY: NO_VERSION}}, headers=differs)
        for method in (*RETIRED, UNKNOWN):
            await peer.request(method, {})
    await _tools(peer, stage.facts)
    await _listen(peer, stage.facts)


async def _incomplete(peer: Peer) -> None:
    """Without `_meta`, without a version, without capabilities; headers still say which revision it is."""
    number = peer.next_id()
    pending = peer.expect(DISCOVER, number)
    pending.sent = await peer.send({"jsonrpc": "2.0", "id": number, "method": DISCOVER, "params": {}})
    await peer.answer(pending)
    for key in (VERSION_KEY, CAPABILITIES_KEY):
        await peer.request(DISCOVER, {"_meta": {key: None}}, headers={VERSION: peer.revision.date})


async def _tools(peer: Peer, facts: Facts) -> None:
    listed = {tool.get("name") for tool in facts.tools}
    if NEEDS_SAMPLING in listed:
        await _call(peer, NEEDS_SAMPLING, {"sampling": {}})
        await _call(peer, NEEDS_SAMPLING, {})
    if ASKS in listed:
        await _call(peer, ASKS, {"elicitation": {}})
    if LOGS in listed:
        async with peer.probe(UNASKED_LOG):
            await _call(peer, LOGS, {})
        await _call(peer, LOGS, {}, _meta={LOG_LEVEL_KEY: "debug"})


async def _call(peer: Peer, name: str, capabilities: dict[str, Any], **more: Any) -> bool:
    """Whether it was done."""
    peer.capabilities = capabilities
    reply = await peer.request("tools/call", {"name": name, "arguments": {}, **more})
    peer.capabilities = {}
    return reply.is_result and reply.result.get("isError") is not True


async def _listen(peer: Peer, facts: Facts) -> None:
    """One listener for each list. Each list changes twice, so that each listener hears of it last once."""
    for area in TRIGGERS:
        pending = await peer.start(LISTEN, {"notifications": {f"{area}ListChanged": True}})
        if await peer.hear(ACKNOWLEDGED, during=pending) is None:
            return
    told = [area for area in TRIGGERS if facts.declares(area, "listChanged")]
    for area in (*told, *told):
        changed = await _call(peer, TRIGGERS[area], {})
        if changed and await peer.hear(LISTS[area][0]) is None:
            return
