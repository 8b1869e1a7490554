"""Requests whose answers have something to tell on the way: progress, and what is logged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.driver.mirrored_header import param_headers
from assay.lab.harness.driver.peer import Peer, Pending
from assay.lab.harness.driver.stage import Stage
from assay.lab.suite.streamed import STREAM_FIRST

ENOUGH: Final = 4
"""Tools that are called: what one stream shows, the next shows again."""


async def listen_to_logs(stage: Stage, peer: Peer) -> None:
    if stage.facts.declares("logging") and "logging/setLevel" in stage.revision.requests:
        await peer.request("logging/setLevel", {"level": "debug"})


async def start_calls(stage: Stage, peer: Peer) -> list[Pending]:
    """Call a few tools that only read, with a preference for streams."""
    return [
        await peer.start("tools/call", params, headers={**STREAM_FIRST, **repeated})
        for params, repeated in _calls(stage)
    ]


def _calls(stage: Stage) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    for tool in stage.facts.read_only_tools[:ENOUGH]:
        arguments = arguments_for(tool)
        told: dict[str, Any] = {"progressToken": f"of-{tool['name']}"}
        if stage.revision.logs_on_demand:
            told[LOG_LEVEL_KEY] = "debug"
        repeated = param_headers(tool, arguments) if stage.revision.http.mirrored else {}
        yield {"name": tool["name"], "arguments": arguments, "_meta": told}, repeated
