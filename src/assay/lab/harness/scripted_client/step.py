"""What the guest can be told to do: one function for each step, by its name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.trace.json_schema import value_problem
from assay.lab.harness.transport import Transport
from assay.model.error import HEADER_MISMATCH
from assay.revisions.revision import Asking

from .failure import Failed, Refusal
from .mirrored_header import marking_problem
from .page import list_all
from .skill import list_skills, load_skill

if TYPE_CHECKING:
    from .client import Guest

Json = dict[str, Any]
Step = Callable[..., Awaitable[None]]
TOOLS_CHANGED: Final = "notifications/tools/list_changed"


async def list_tools(guest: Guest) -> None:
    tools = await list_all(guest, "tools/list", "tools")
    named = {one["name"]: one for one in tools if isinstance(one, dict) and isinstance(one.get("name"), str)}
    mirrors = guest.transport is Transport.HTTP and guest.revision.http.mirrored is not None
    guest.dropped = {}
    if mirrors and guest.manners.drops_badly_marked:
        marked = {name: marking_problem(tool) for name, tool in named.items()}
        guest.dropped = {name: problem for name, problem in marked.items() if problem is not None}
    for name, problem in guest.dropped.items():
        guest.say(f"tool {name} is left out: {problem}")
    guest.tools = {name: tool for name, tool in named.items() if name not in guest.dropped}


async def list_resources(guest: Guest) -> None:
    await list_all(guest, "resources/list", "resources")


async def list_templates(guest: Guest) -> None:
    await list_all(guest, "resources/templates/list", "resourceTemplates")


async def list_prompts(guest: Guest) -> None:
    await list_all(guest, "prompts/list", "prompts")


async def call_tool(
    guest: Guest, name: str, arguments: Json | None = None, timeout: float | None = None
) -> None:
    if name in guest.dropped:
        raise Failed(f"tool {name} was left out: {guest.dropped[name]}")
    params: Json = {"name": name, "arguments": arguments or {}}
    try:
        result = await guest.request("tools/call", params, timeout=timeout)
    except Refusal as refusal:
        if refusal.code != HEADER_MISMATCH or not guest.manners.refreshes_headers:
            raise
        guest.cache.forget("tools/list")
        await list_tools(guest)
        result = await guest.request("tools/call", params, timeout=timeout)
    except TimeoutError:
        if timeout is None:
            raise
        return guest.say(f"call_tool {name}: gave up after {timeout:g} s")
    _validate(guest, name, result)


def _validate(guest: Guest, name: str, result: Json) -> None:
    schema = guest.tools.get(name, {}).get("outputSchema")
    if schema is None or result.get("isError") or not guest.manners.validates_output:
        return
    if "structuredContent" not in result:
        raise Failed(f"tool {name} has a schema for its output, and gave none that is structured")
    if problem := value_problem(result["structuredContent"], schema):
        raise Failed(f"the output of tool {name} does not fit its schema: {problem}")


async def read_resource(guest: Guest, uri: str) -> None:
    await guest.request("resources/read", {"uri": uri})


async def get_prompt(guest: Guest, name: str, arguments: Json | None = None) -> None:
    await guest.request("prompts/get", {"name": name, "arguments": arguments or {}})


async def complete(guest: Guest, ref: Json, argument: Json, context: Json | None = None) -> None:
    more = {} if context is None else {"context": context}
    await guest.request("completion/complete", {"ref": ref, "argument": argument, **more})


async def subscribe(guest: Guest, uri: str) -> None:
    """By a request, or by a stream that is open until the end: as the revision has it."""
    if "resources/subscribe" in guest.revision.requests:
        await guest.request("resources/subscribe", {"uri": uri})
    else:
        await listen(guest, {"resourceSubscriptions": [uri]})


async def unsubscribe(guest: Guest, uri: str) -> None:
    if "resources/unsubscribe" in guest.revision.requests:
        await guest.request("resources/unsubscribe", {"uri": uri})
    else:
        await guest.stop_listening({"resourceSubscriptions": [uri]})


async def listen(guest: Guest, notifications: Json) -> None:
    """Where the handshake has agreed on all that is announced, there is nothing to do."""
    if "subscriptions/listen" in guest.revision.requests:
        await guest.listen(notifications)


async def set_level(guest: Guest, level: str) -> None:
    """For good, or in each request from now on."""
    if guest.revision.logs_on_demand:
        guest.meta[LOG_LEVEL_KEY] = level
    else:
        await guest.request("logging/setLevel", {"level": level})


async def ping(guest: Guest) -> None:
    """Where the revision has it."""
    if "ping" in guest.revision.requests:
        await guest.request("ping", {})


async def change_roots(guest: Guest, roots: list[Json]) -> None:
    guest.answers.roots = roots
    if guest.revision.asking is Asking.BY_REQUEST:
        await guest.notify("notifications/roots/list_changed")


async def wait_for(guest: Guest, notification: str, seconds: float) -> None:
    await guest.heard.wait_for(notification, seconds)


async def relist_on_change(guest: Guest, seconds: float) -> None:
    await guest.heard.wait_for(TOOLS_CHANGED, seconds)
    await list_tools(guest)


async def together(guest: Guest, steps: list[Json]) -> None:
    await asyncio.gather(*(guest.play([step]) for step in steps))


async def context_calls(guest: Guest) -> None:
    for call in guest.context.get("toolCalls", []):
        await call_tool(guest, **call)


async def call_listed(guest: Guest, arguments: Json) -> None:
    """Every tool that there is to see; that one cannot be called keeps none from being called."""
    for name in list(guest.tools):
        step = {"do": "call_tool", "name": name, "arguments": arguments.get(name, {}), "may_fail": True}
        await guest.play([step])


async def echo_schema(guest: Guest, **tools: str) -> None:
    listed = guest.tools.get(tools["of"])
    if listed is None:
        raise Failed(f"no tool {tools['of']} was listed")
    await call_tool(guest, tools["with"], {"schema": listed.get("inputSchema")})


STEPS: Final[dict[str, Step]] = {
    step.__name__: step
    for step in (
        list_tools,
        list_resources,
        list_templates,
        list_prompts,
        call_tool,
        read_resource,
        get_prompt,
        complete,
        subscribe,
        unsubscribe,
        listen,
        set_level,
        ping,
        change_roots,
        wait_for,
        relist_on_change,
        together,
        context_calls,
        call_listed,
        echo_schema,
        list_skills,
        load_skill,
    )
}
