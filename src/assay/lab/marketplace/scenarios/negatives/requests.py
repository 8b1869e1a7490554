"""Requests in good form that cannot be served: unknown methods and tools, arguments that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.driver.argument import arguments_for, refused_arguments
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.driver.mirrored_header import param_headers
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.marketplace.declaring import BOTH
from assay.lab.marketplace.jrpc_bad_message import BadMessage, offer_each

ENOUGH = 3
"""Tools of which wrong calls are tried."""
UNKNOWN_METHODS = ("no/such/method", "tools/no-such-verb")
UNKNOWN_TOOL = "no-such-tool-of-the-lab"


@scenario(
    "Requests that cannot be served",
    exercises=("negatives.requests", "negatives.recovers"),
    transports=BOTH,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    tools = await _working(stage, peer)
    await offer_each(stage, _messages(stage, tools), peer)


async def _working(stage: Stage, peer: Peer) -> list[dict[str, Any]]:
    """Tools that only read, and do so with arguments that fit: of others a refusal would prove nothing."""
    named = [one for one in stage.facts.read_only_tools if isinstance(one.get("name"), str)]
    found: list[dict[str, Any]] = []
    for tool in (one for one in named if any(refused_arguments(one))):
        if len(found) < ENOUGH and _is_done(await peer.call(tool, arguments_for(tool))):
            found.append(tool)
    return found


def _is_done(reply: Reply) -> bool:
    done = reply.result.get("resultType", "complete") == "complete"
    return reply.is_result and done and not reply.result.get("isError")


def _messages(stage: Stage, tools: list[dict[str, Any]]) -> Iterator[BadMessage]:
    for method in UNKNOWN_METHODS:
        yield _request(stage, "unknown-method", f"the method {method}", method, {})
    if stage.facts.declares("tools"):
        call = {"name": UNKNOWN_TOOL, "arguments": {}}
        yield _request(stage, "unknown-tool", f"the tool {UNKNOWN_TOOL}", "tools/call", call)
    for tool in tools:
        for number, arguments in enumerate(refused_arguments(tool)):
            what = f"the arguments {arguments!r} of {tool['name']}"
            call = {"name": tool["name"], "arguments": arguments}
            headers = param_headers(tool, arguments) if stage.revision.http.mirrored else {}
            name = f"{tool['name']} {number}"
            yield _request(stage, "invalid-arguments", what, "tools/call", call, name, headers)


def _request(
    stage: Stage,
    case: str,
    what: str,
    method: str,
    params: dict[str, Any],
    name: str = "",
    headers: dict[str, str] | None = None,
) -> BadMessage:
    request_id = f"{case} {name or method}"
    full = declared(stage.revision, params, {})
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": full}
    return BadMessage(case, what, message, (request_id,), headers or {}, answered=True)
