"""Scripts and answers of hostile servers, and evidence that a client survived them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from assay.lab.client.evidence import AFTER, calls_of, cancels, has_ended
from assay.lab.harness import Json, Observation, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur, misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_server.client_script import (
    LIST_TOOLS,
    ClientScript,
    call_tool,
    optional,
    step,
)
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, encode
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Exchange

TIMEOUT: Final = 1.5
"""Seconds after which the client gives up a call whose answer it does not understand."""
SHAPED: Final = "shaped"
"""The tool whose schema shows which list of tools the client accepted."""
TAKING: Final = "taking"
"""The tool that receives that schema."""
ECHO: Final = step("echo_schema", **{"of": SHAPED, "with": TAKING})
RESULT: Final[Json] = {"content": [{"type": "text", "text": "well done"}]}


def call_each(tools: Iterable[str], oauth: Json | None = None) -> ClientScript:
    """Calls of these tools, which may fail, and a last one that works."""
    calls = (optional({**call_tool(tool), "timeout": TIMEOUT}) for tool in tools)
    return ClientScript(steps=(LIST_TOOLS, *calls, call_tool(AFTER)), may_fail=True, oauth=oauth or {})


def titled_tools(title: str) -> list[Json]:
    """A list of tools that can be recognized by the title of one schema."""
    return [
        {"name": SHAPED, "inputSchema": {"type": "object", "title": title}},
        {"name": TAKING, "inputSchema": {"type": "object", "properties": {"schema": {"type": "object"}}}},
        {"name": AFTER, "inputSchema": {"type": "object"}},
    ]


def answer_to(cycle: RequestCycle, result: Json, id: Any = None) -> bytes:
    """A whole response, with the id of the request or another."""
    result = cycle.server.shaped(cycle.method, result)
    return encode({"jsonrpc": "2.0", "id": cycle.id if id is None else id, "result": result})


def tool_call(request: InboundRequest) -> tuple[Any, str]:
    """The id and the tool of the call in an HTTP request; the tool is empty if it has no call."""
    try:
        message = msgspec.json.decode(request.body)
        return message["id"], str(message["params"]["name"])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, LookupError, TypeError):
        return None, ""


def echoed_titles(trace: Trace) -> Iterator[tuple[Exchange, Any]]:
    """Each call that returns a schema to the server, with the title in that schema."""
    for call in calls_of(trace, TAKING):
        arguments = call.params.get("arguments")
        schema = arguments.get("schema") if isinstance(arguments, dict) else None
        yield call, schema.get("title") if isinstance(schema, dict) else None


def observe_survived(
    requirement: str, trace: Trace, tools: Iterable[str], expected: str, *, answered: bool = False
) -> Iterator[Observation]:
    """Observe whether another call followed each of these calls, and the last one succeeded.

    With `answered`, the client must also receive their answers, so that it cancels none of them. Nothing
    after the first call that stopped the client is evidence.
    """
    for call in (first for tool in tools for first in calls_of(trace, tool)[:1]):
        observation = _next_call(requirement, trace, call, expected, answered=answered)
        if observation is not None:
            yield observation
        if observation is None or not observation.holds:
            return
    # After the last call, only its answer can make the client fail.
    last = calls_of(trace, AFTER)
    for frame in (frame for frame in trace.frames if last and frame.kind is Kind.EXIT):
        status = frame.info.get("status")
        observed = f"the last call was answered, but the client exited with status {status}"
        yield observe(requirement, status == 0, last[-1], frame, expected=expected, observed=observed)


def _next_call(
    requirement: str, trace: Trace, call: Exchange, expected: str, *, answered: bool
) -> Observation | None:
    tool = call.params.get("name")
    others = (other for other in trace.subject_exchanges("tools/call") if other.params.get("name") != tool)
    later = [other for other in others if other.request.frame.n > call.request.frame.n][:1]
    lost = [message for message in trace.received if answered and cancels(message, call)][:1]
    if not later and not has_ended(trace):
        return None
    observed = f"the answer of {tool!r} was not received" if lost else f"no call followed {tool!r}"
    holds = bool(later) and not lost
    return observe(requirement, holds, call, *lost, *later, expected=expected, observed=observed)


def stops(name: str, cause: str, *, breaks: str, scenario: str, **options: Any) -> ClientSaboteur:
    """A client that exits after the first call of a scenario."""

    async def behave(client: ScriptedClient) -> None:
        await client.open()
        await client.run_steps(client.context["steps"][:2])
        raise StepFailed(cause)

    return misbehaving(
        f"exits because of {cause}", id=f"hostile.{name}", breaks=breaks, scenario=scenario, **options
    )(behave)
