"""Requests that are answered on event streams, with what is told before the answer."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.driver.mirrored_header import param_headers
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.streamed import STREAM_FIRST
from assay.revisions.revision import Revision

ENOUGH = 4
"""Tools that are called: what one stream shows, the next shows again."""


@scenario(
    "Answers on event streams",
    exercises=(
        "streams.answer-type",
        "streams.delivery",
        "streams.opening",
        "streams.related",
        "streams.no-requests",
    ),
    transports=HTTP_ONLY,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    ended = await streamed(peer, stage.plain, {"_meta": {"progressToken": "plain"}})
    if stage.facts.declares("logging") and "logging/setLevel" in stage.revision.requests:
        await peer.request("logging/setLevel", {"level": "debug"})
    for tool in stage.facts.read_only_tools[:ENOUGH]:
        # A server that leaves one stream open leaves them all: one is waited for.
        ended = ended and await streamed(peer, "tools/call", *call_of(tool, stage.revision))


def call_of(tool: dict[str, Any], revision: Revision) -> tuple[dict[str, Any], dict[str, str]]:
    """A call that wants to hear of its progress and of all that is logged, and the headers for it."""
    arguments = arguments_for(tool)
    told: dict[str, Any] = {"progressToken": f"of-{tool['name']}"}
    if revision.logs_on_demand:
        told[LOG_LEVEL_KEY] = "debug"
    headers = param_headers(tool, arguments) if revision.http.mirrored else {}
    return {"name": tool["name"], "arguments": arguments, "_meta": told}, headers


async def streamed(
    peer: Peer, method: str, params: dict[str, Any], headers: dict[str, str] | None = None
) -> bool:
    """Ask for an answer on a stream, and whether that stream ended."""
    pending = await peer.start(method, params, headers={**STREAM_FIRST, **(headers or {})})
    await peer.answer(pending)
    assert pending.sent is not None
    return await peer.http.follow(pending.sent)
