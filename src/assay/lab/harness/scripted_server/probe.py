"""Probes: short runs of a client that are not judged, to find out what it can do.

The first probe of a revision is one that clients know from the official suite by its name. The second has one
step of each kind, and asks for every capability. The third refuses the client without a token.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.run.recording import now
from assay.lab.harness.scenario import Role
from assay.lab.harness.trace.frame import Header
from assay.lab.harness.trace.recorder import Recorder, Redaction
from assay.lab.harness.trace.trace import Trace
from assay.revisions.revision import Opening, Revision

from .answer import Answer
from .client import Client, ClientExit, ClientSetup
from .client_script import LIST_TOOLS, ClientScript, Json, call_tool, optional, step
from .http_reply import HttpReply
from .http_server import InboundRequest
from .request_cycle import RequestCycle
from .stage import ClientStage

ADD, ECHO, MORE, SLOW = "add_numbers", "assay_probe", "assay_more", "assay_slow"
TIMEOUT, LATE = 0.3, 2.0
"""Seconds after which the client is asked to give up, and after which the slow tool answers."""
NOTE, TEMPLATE = "assay://probe/note", "assay://probe/{name}"
FOLLOWED: Final = "token"
"""The argument whose value only the steps contain."""
CAPABILITIES: Final = (
    *("elicitation", "elicitation.url", "sampling", "sampling.tools"),
    *("roots", "roots.listChanged"),
)
ANSWERS: Final[Json] = {
    "elicitation": "decline",
    "sampling": {"text": "an answer"},
    "roots": [{"uri": "file:///probe", "name": "probe"}],
}
CHALLENGE: Final = [("WWW-Authenticate", "Bearer")]
Setting = Callable[[ClientStage], Awaitable[None]]


class Probe(Struct, frozen=True):
    name: str
    """The scenario that the client is started for."""
    script: ClientScript
    drive: Setting
    token: str = ""


class Probed(Struct, frozen=True):
    trace: Trace
    exit: ClientExit
    seconds: float


def basic_probe() -> Probe:
    token = secrets.token_hex(8)
    steps = (LIST_TOOLS, call_tool(ADD, a=5, b=3), call_tool(ECHO, token=token))
    return Probe("tools_call", ClientScript(steps=steps), _offer, token)


def full_probe(revision: Revision) -> Probe:
    token = secrets.token_hex(8)
    reference = {"type": "ref/prompt", "name": "letter"}
    steps = [
        LIST_TOOLS,
        call_tool(ADD, a=5, b=3),
        call_tool(ECHO, token=token),
        {**call_tool(SLOW), "timeout": TIMEOUT},
        step("list_resources"),
        step("list_templates"),
        step("read_resource", uri=NOTE),
        step("list_prompts"),
        step("get_prompt", name="letter", arguments={"to": "Ann"}),
        step("complete", ref=reference, argument={"name": "to", "value": "A"}),
        step("together", steps=[call_tool(MORE, n=1), call_tool(MORE, n=2)]),
        _last(revision),
    ]
    script = ClientScript(
        steps=tuple(optional(each) for each in steps), capabilities=CAPABILITIES, answers=ANSWERS
    )
    return Probe("core.open-house", script, _offer, token)


def _last(revision: Revision) -> Json:
    if revision.opening is Opening.PER_REQUEST:
        return step("listen", notifications={"toolsListChanged": True})
    return step("change_roots", roots=[{"uri": "file:///other", "name": "other"}])


def refusing_probe() -> Probe:
    script = ClientScript(steps=(optional(LIST_TOOLS),), oauth={"grant": "authorization_code"})
    return Probe("auth/metadata-default", script, _refuse)


async def _offer(stage: ClientStage) -> None:
    async def delay(cycle: RequestCycle) -> Answer:
        await asyncio.sleep(LATE)
        return {"content": [{"type": "text", "text": "late"}]}

    server = stage.server
    server.page = 2
    for name in (ADD, ECHO, MORE):
        server.add_tool({"name": name, "description": f"The tool {name}"})
    server.add_tool({"name": SLOW, "description": "A slow tool"}, delay)
    server.add_resource(NOTE)
    server.items["resourceTemplates"].append({"uriTemplate": TEMPLATE, "name": "notes"})
    server.add_prompt("letter", arguments=[{"name": "to", "required": True}])
    server.capabilities |= {"completions": {}, "tools": {"listChanged": True}}


async def _refuse(stage: ClientStage) -> None:
    async def answer(request: InboundRequest, reply: HttpReply) -> bool:
        is_endpoint = request.method == "POST" and request.path == "/mcp"
        await reply.respond(401 if is_endpoint else 404, b"", CHALLENGE if is_endpoint else [])
        return True

    stage.server.add_tool({"name": ADD})
    stage.server.on_http(answer)


async def run_probe(probe: Probe, client: Client, revision: Revision, limit: float) -> Probed:
    """
    Raises:
        Unreachable: the client cannot be started.
    """
    header = Header(revision.date, client.transport, client.name, "probe", now(), role=Role.CLIENT.value)
    recorder = Recorder(header, Redaction())
    stage = ClientStage(recorder, revision, client.transport, probe.script.path)
    stage.context = probe.script.context
    begin = time.monotonic()
    await stage.open()
    try:
        await probe.drive(stage)
        setup = ClientSetup(probe.name, revision.date, stage.context, stage.url, stage.command)
        client_exit = await client.run(setup, limit)
    finally:
        await stage.close()
    if stage.fault is not None:
        raise stage.fault
    trace = recorder.trace(closed=not client_exit.stopped)
    return Probed(trace, client_exit, time.monotonic() - begin)


def arguments_of(trace: Trace, tool: str) -> list[dict[str, Any]]:
    """The arguments of each call of a tool."""
    calls = [call for call in trace.subject_exchanges("tools/call") if call.params.get("name") == tool]
    arguments = [call.params.get("arguments") for call in calls]
    return [each for each in arguments if isinstance(each, dict)]
