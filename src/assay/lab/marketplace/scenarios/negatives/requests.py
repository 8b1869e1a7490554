"""Requests in good form that cannot be served: unknown methods and tools, arguments that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.argument import refused_arguments
from assay.lab.harness.message_meta import declared
from assay.lab.harness.mirror import param_headers
from assay.lab.harness.scenario import scenario
from assay.lab.harness.stage import Stage
from assay.lab.marketplace.declaring import BOTH
from assay.lab.marketplace.jrpc_bad_message import BadMessage, offer_each

MOST_TOOLS = 4
UNKNOWN_METHODS = ("no/such/method", "tools/no-such-verb")
UNKNOWN_TOOL = "no-such-tool-of-the-lab"


@scenario(
    "Requests that cannot be served",
    exercises=("negatives.requests", "negatives.recovers"),
    transports=BOTH,
)
async def drive(stage: Stage) -> None:
    await offer_each(stage, _messages(stage))


def _messages(stage: Stage) -> Iterator[BadMessage]:
    for method in UNKNOWN_METHODS:
        yield _request(stage, "unknown-method", f"the method {method}", method, {})
    if stage.facts.declares("tools"):
        call = {"name": UNKNOWN_TOOL, "arguments": {}}
        yield _request(stage, "unknown-tool", f"the tool {UNKNOWN_TOOL}", "tools/call", call)
    for tool in _tools(stage):
        for number, arguments in enumerate(refused_arguments(tool)):
            what = f"the arguments {arguments!r} of {tool['name']}"
            call = {"name": tool["name"], "arguments": arguments}
            headers = param_headers(tool, arguments) if stage.revision.http.mirrored else {}
            name = f"{tool['name']} {number}"
            yield _request(stage, "invalid-arguments", what, "tools/call", call, name, headers)


def _tools(stage: Stage) -> list[dict[str, Any]]:
    """Those that only read come first: a server that serves bad arguments after all does least with them."""
    named = [one for one in stage.facts.tools if isinstance(one.get("name"), str)]
    reading = [one for one in stage.facts.read_only_tools if one in named]
    return [one for one in reading if any(refused_arguments(one))][:MOST_TOOLS]


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
