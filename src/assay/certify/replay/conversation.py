"""What a recording asks a server: everything it lists, each once, or the requests of the user's file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.error import InvalidOptions
from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.choice import NOWHERE, uris_of
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY, param_headers
from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.question import converse
from assay.lab.harness.driver.stage import Stage, open_server_stream
from assay.lab.harness.subject.discovery import LISTS
from assay.lab.harness.trace.regular_file import UnfitFile, read_regular
from assay.lab.harness.transport import Transport

MOST_TOOLS: Final = 40
MOST_PROMPTS: Final = 20
MOST_REQUESTS: Final = 1000
MAX_FILE: Final = 4 * 1024 * 1024
UNKNOWN: Final = "assay-no-such-thing"
"""A name that no server has, to record how it refuses."""
Converse = Callable[[Stage], Awaitable[None]]


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    method: str
    params: dict[str, Any] = {}


async def ask_everything(stage: Stage) -> None:
    """Ask for every list, call the quick tools that may be called, read, get prompts, and be refused."""
    peer = await _open(stage)
    for capability, method, key, _ in LISTS:
        if stage.facts.declares(capability):
            await peer.pages(method, key)
    for tool in stage.facts.quick_tools[:MOST_TOOLS]:
        for arguments in stage.facts.argument_sets(tool):
            await _call(peer, tool, arguments)
    for uri in uris_of(stage.facts):
        await converse(peer, "resources/read", {"uri": uri})
    for prompt in stage.facts.prompts[:MOST_PROMPTS]:
        await converse(peer, "prompts/get", _prompt_params(prompt))
    await _be_refused(stage, peer)


def ask(requests: Sequence[Request]) -> Converse:
    """A conversation of these requests, one after the other."""

    async def converse_with_them(stage: Stage) -> None:
        peer = await _open(stage)
        tools = {tool.get("name"): tool for tool in stage.facts.tools}
        for request in requests:
            tool = tools.get(request.params.get("name")) if request.method == "tools/call" else None
            if tool is not None:
                meta = request.params.get("_meta")
                await _call(peer, tool, request.params.get("arguments", {}), meta)
            else:
                await converse(peer, request.method, request.params)

    return converse_with_them


async def _open(stage: Stage) -> Peer:
    peer = await stage.open(sampling={}, elicitation={}, roots={})
    if stage.transport is Transport.HTTP:
        await open_server_stream(stage, peer)
    if stage.facts.declares("logging") and "logging/setLevel" in stage.revision.requests:
        await peer.request("logging/setLevel", {"level": "debug"})
    return peer


async def _call(peer: Peer, tool: dict[str, Any], arguments: Any, meta: Any = None) -> None:
    own = meta if isinstance(meta, dict) else {}
    meta_fields = {"progressToken": f"replay-{peer.next_id()}", **own}
    if peer.revision.logs_on_demand:
        meta_fields = {LOG_LEVEL_KEY: "debug", **meta_fields}
    plain = arguments if isinstance(arguments, dict) else {}
    headers = param_headers(tool, plain) if peer.revision.http.mirrored else {}
    params = {"name": tool["name"], "arguments": arguments, "_meta": meta_fields}
    await converse(peer, "tools/call", params, headers=headers)


def _prompt_params(prompt: dict[str, Any]) -> dict[str, Any]:
    declared = prompt.get("arguments")
    items = [item for item in declared if isinstance(item, dict)] if isinstance(declared, list) else []
    required = [str(item.get("name")) for item in items if item.get("required") is True]
    properties = {name: {"type": "string"} for name in required}
    schema = {"type": "object", "properties": properties, "required": required}
    arguments = arguments_for({"name": str(prompt.get("name")), "inputSchema": schema})
    return {"name": prompt.get("name"), **({"arguments": arguments} if arguments else {})}


async def _be_refused(stage: Stage, peer: Peer) -> None:
    await peer.request(f"assay/{UNKNOWN}", {})
    for capability, method, params in (
        ("tools", "tools/call", {"name": UNKNOWN, "arguments": {}}),
        ("resources", "resources/read", {"uri": NOWHERE}),
        ("prompts", "prompts/get", {"name": UNKNOWN}),
    ):
        if stage.facts.declares(capability):
            await peer.request(method, params)
    await peer.request(stage.plain)


def read_requests(path: Path) -> list[Request]:
    """The requests of a file.

    Raises:
        InvalidOptions: the file cannot be read, or a line is not a request.
    """
    try:
        lines = read_regular(path, MAX_FILE).splitlines()
        requests = [msgspec.json.decode(line, type=Request) for line in lines if line.strip()]
    except (UnfitFile, msgspec.DecodeError, RecursionError) as error:
        fix = 'write one request per line, as {"method": "tools/call", "params": {"name": "add"}}'
        raise InvalidOptions(f"{path}: {error}", fix) from error
    except OSError as error:
        raise InvalidOptions(f"{path}: {error.strerror}", "name a file of requests") from error
    if not 0 < len(requests) <= MOST_REQUESTS:
        raise InvalidOptions(f"{path} has {len(requests)} requests", f"write 1 to {MOST_REQUESTS} of them")
    return requests
