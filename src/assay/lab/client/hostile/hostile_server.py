"""Hosts that do not behave: calls that are answered in an evil way, and what a client made of that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from assay.lab.client.evidence import AFTER, calls_of, cancels, has_ended
from assay.lab.harness import Json, Observation, Trace, observe
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import (
    LIST_TOOLS,
    ClientScript,
    call_tool,
    optional,
    step,
)
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, encode
from assay.lab.harness.scripted_server.server import ScriptedServer
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Exchange

PATIENCE: Final = 1.5
"""Seconds after which the client should give up a call whose answer it does not understand."""
SHAPED: Final = "shaped"
"""The tool by whose schema a client shows which list it believed."""
TAKING: Final = "taking"
"""The tool that is given that schema."""
ECHO: Final = step("echo_schema", **{"of": SHAPED, "with": TAKING})
WELL: Final[Json] = {"content": [{"type": "text", "text": "well done"}]}
Evil = Callable[[RequestCycle], Awaitable[Answer]]


def trying(kinds: Iterable[str], oauth: Json | None = None) -> ClientScript:
    """One call of each kind, which may fail, and one that should do well in the end."""
    evil = (optional({**call_tool(kind), "timeout": PATIENCE}) for kind in kinds)
    return ClientScript(steps=(LIST_TOOLS, *evil, call_tool(AFTER)), may_fail=True, oauth=oauth or {})


def shaped(title: str) -> list[Json]:
    """Tools, one of which has this title in its schema."""
    schema = {"type": "object", "title": title}
    return [
        {"name": SHAPED, "inputSchema": schema},
        {"name": TAKING, "inputSchema": {"type": "object", "properties": {"schema": {"type": "object"}}}},
        {"name": AFTER, "inputSchema": {"type": "object"}},
    ]


def add_shaped(server: ScriptedServer, title: str) -> None:
    for tool in shaped(title):
        server.add_tool(tool)


def answer_to(cycle: RequestCycle, result: Json, number: Any = None) -> bytes:
    """A whole response, under the id of the request or another."""
    named = cycle.id if number is None else number
    return encode({"jsonrpc": "2.0", "id": named, "result": cycle.server.shaped(cycle.method, result)})


def called(request: InboundRequest) -> tuple[Any, str]:
    """The id of the call in an HTTP request, and the tool; no name where there is no call."""
    try:
        message = msgspec.json.decode(request.body)
        return message["id"], str(message["params"]["name"])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, LookupError, TypeError):
        return None, ""


# -- what became of it ---------------------------------------------------------------------------------------


def echoed(trace: Trace) -> Iterator[tuple[Exchange, Any]]:
    """Each call that gives a schema back, with its title."""
    for one in calls_of(trace, TAKING):
        given = one.params.get("arguments")
        schema = given.get("schema") if isinstance(given, dict) else None
        yield one, schema.get("title") if isinstance(schema, dict) else None


def undeterred(
    row: str, trace: Trace, kinds: Iterable[str], expected: str, *, heard: bool = False
) -> Iterator[Observation]:
    """Whether another call came after each of these, and the last one was understood as well. Where they are
    to be heard, none of them may be given up. What comes after the first that broke the client shows no more.
    """
    for one in (first for kind in kinds for first in calls_of(trace, kind)[:1]):
        seen = _after(row, trace, one, expected, heard=heard)
        if seen is not None:
            yield seen
        if seen is None or not seen.holds:
            return
    yield from _ended(row, trace, expected)


def _after(row: str, trace: Trace, one: Exchange, expected: str, *, heard: bool) -> Observation | None:
    kind = one.params.get("name")
    others = (other for other in trace.inquiries("tools/call") if other.params.get("name") != kind)
    later = [other for other in others if other.request.frame.n > one.request.frame.n]
    lost = [said for said in trace.received if heard and cancels(said, one)]
    if not later and not has_ended(trace):
        return None
    observed = f"the answer after {kind!r} was not heard" if lost else f"nothing was called after {kind!r}"
    holds = bool(later) and not lost
    return observe(row, holds, one, *lost[:1], *later[:1], expected=expected, observed=observed)


def _ended(row: str, trace: Trace, expected: str) -> Iterator[Observation]:
    """Who called the last tool has nothing left to fail at but its answer."""
    last = calls_of(trace, AFTER)
    for frame in (one for one in trace.frames if last and one.kind is Kind.EXIT):
        status = frame.info.get("status")
        observed = f"the last call was answered, and the client ended with status {status}"
        yield observe(row, status == 0, last[-1], frame, expected=expected, observed=observed)
