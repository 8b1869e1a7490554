"""Requests that are answered on event streams, with what is told before the answer."""

from __future__ import annotations

from typing import Any

from assay.lab.harness.argument import arguments_for
from assay.lab.harness.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.mirror import param_headers
from assay.lab.harness.peer import Peer
from assay.lab.harness.scenario import scenario
from assay.lab.harness.stage import Stage
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.streamed import STREAM_FIRST

ENOUGH = 8
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
    await streamed(peer, stage.plain, {"_meta": {"progressToken": "plain"}})
    if stage.facts.declares("logging") and "logging/setLevel" in stage.revision.requests:
        await streamed(peer, "logging/setLevel", {"level": "debug"})
    for tool in stage.facts.read_only_tools[:ENOUGH]:
        arguments = arguments_for(tool)
        told: dict[str, Any] = {"progressToken": f"of-{tool['name']}"}
        if stage.revision.logs_on_demand:
            told[LOG_LEVEL_KEY] = "debug"
        headers = param_headers(tool, arguments) if stage.revision.http.mirrored else {}
        params = {"name": tool["name"], "arguments": arguments, "_meta": told}
        await streamed(peer, "tools/call", params, headers)


async def streamed(
    peer: Peer, method: str, params: dict[str, Any], headers: dict[str, str] | None = None
) -> None:
    pending = await peer.start(method, params, headers={**STREAM_FIRST, **(headers or {})})
    await peer.answer(pending)
    assert pending.sent is not None
    await peer.http.follow(pending.sent)
