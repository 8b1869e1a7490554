"""The steps of a script: a function for each, by name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.trace.json_schema import value_problem
from assay.lab.harness.transport import Transport
from assay.model.error import HEADER_MISMATCH
from assay.revisions.revision import Asking

from .failure import ErrorAnswer, StepFailed
from .mirrored_header import marking_problem
from .page import list_all
from .skill import list_skills, load_skill

if TYPE_CHECKING:
    from .client import ScriptedClient

Json = dict[str, Any]
Step = Callable[..., Awaitable[None]]
TOOLS_CHANGED: Final = "notifications/tools/list_changed"


async def list_tools(client: ScriptedClient) -> None:
    tools = await list_all(client, "tools/list", "tools")
    dicts = [tool for tool in tools if isinstance(tool, dict)]
    named = {tool["name"]: tool for tool in dicts if isinstance(tool.get("name"), str)}
    mirrors = client.transport is Transport.HTTP and client.revision.http.mirrored is not None
    client.dropped = {}
    if mirrors and client.behaviour.drops_badly_marked:
        marked = {name: marking_problem(tool) for name, tool in named.items()}
        client.dropped = {name: problem for name, problem in marked.items() if problem is not None}
    for name, problem in client.dropped.items():
        client.say(f"tool {name} is ignored: {problem}")
    client.tools = {name: tool for name, tool in named.items() if name not in client.dropped}


async def list_resources(client: ScriptedClient) -> None:
    await list_all(client, "resources/list", "resources")


async def list_templates(client: ScriptedClient) -> None:
    await list_all(client, "resources/templates/list", "resourceTemplates")


async def list_prompts(client: ScriptedClient) -> None:
    await list_all(client, "prompts/list", "prompts")


async def call_tool(
    client: ScriptedClient, name: str, arguments: Json | None = None, timeout: float | None = None
) -> None:
    if name in client.dropped:
        raise StepFailed(f"tool {name} was ignored: {client.dropped[name]}")
    params: Json = {"name": name, "arguments": arguments or {}}
    try:
        result = await client.request("tools/call", params, timeout=timeout)
    except ErrorAnswer as error:
        if error.code != HEADER_MISMATCH or not client.behaviour.refreshes_headers:
            raise
        client.cache.forget("tools/list")
        await list_tools(client)
        result = await client.request("tools/call", params, timeout=timeout)
    except TimeoutError:
        if timeout is None:
            raise
        return client.say(f"call_tool {name}: gave up after {timeout:g} s")
    _validate(client, name, result)


def _validate(client: ScriptedClient, name: str, result: Json) -> None:
    schema = client.tools.get(name, {}).get("outputSchema")
    if schema is None or result.get("isError") or not client.behaviour.validates_output:
        return
    if "structuredContent" not in result:
        raise StepFailed(f"tool {name} has an output schema but returned no structured content")
    if problem := value_problem(result["structuredContent"], schema):
        raise StepFailed(f"the output of tool {name} does not match its schema: {problem}")


async def read_resource(client: ScriptedClient, uri: str) -> None:
    await client.request("resources/read", {"uri": uri})


async def get_prompt(client: ScriptedClient, name: str, arguments: Json | None = None) -> None:
    await client.request("prompts/get", {"name": name, "arguments": arguments or {}})


async def complete(client: ScriptedClient, ref: Json, argument: Json, context: Json | None = None) -> None:
    optional = {} if context is None else {"context": context}
    await client.request("completion/complete", {"ref": ref, "argument": argument, **optional})


async def subscribe(client: ScriptedClient, uri: str) -> None:
    """Subscribe with a request, or with a stream that stays open, depending on the revision."""
    if "resources/subscribe" in client.revision.requests:
        await client.request("resources/subscribe", {"uri": uri})
    else:
        await listen(client, {"resourceSubscriptions": [uri]})


async def unsubscribe(client: ScriptedClient, uri: str) -> None:
    if "resources/unsubscribe" in client.revision.requests:
        await client.request("resources/unsubscribe", {"uri": uri})
    else:
        await client.stop_listening({"resourceSubscriptions": [uri]})


async def listen(client: ScriptedClient, notifications: Json) -> None:
    """Does nothing in revisions where the handshake settles which changes are announced."""
    if "subscriptions/listen" in client.revision.requests:
        await client.listen(notifications)


async def set_level(client: ScriptedClient, level: str) -> None:
    """Set the level for the session, or in the metadata of every later request."""
    if client.revision.logs_on_demand:
        client.meta[LOG_LEVEL_KEY] = level
    else:
        await client.request("logging/setLevel", {"level": level})


async def ping(client: ScriptedClient) -> None:
    """Does nothing in revisions without `ping`."""
    if "ping" in client.revision.requests:
        await client.request("ping", {})


async def change_roots(client: ScriptedClient, roots: list[Json]) -> None:
    client.answers.roots = roots
    if client.revision.asking is Asking.BY_REQUEST:
        await client.notify("notifications/roots/list_changed")


async def wait_for(client: ScriptedClient, notification: str, seconds: float) -> None:
    await client.notifications.wait_for(notification, seconds)


async def relist_on_change(client: ScriptedClient, seconds: float) -> None:
    await client.notifications.wait_for(TOOLS_CHANGED, seconds)
    await list_tools(client)


async def together(client: ScriptedClient, steps: list[Json]) -> None:
    await asyncio.gather(*(client.run_steps([step]) for step in steps))


async def context_calls(client: ScriptedClient) -> None:
    for call in client.context.get("toolCalls", []):
        await call_tool(client, **call)


async def call_listed(client: ScriptedClient, arguments: Json) -> None:
    """Call every listed tool, even if some calls fail."""
    for name in list(client.tools):
        step = {"do": "call_tool", "name": name, "arguments": arguments.get(name, {}), "may_fail": True}
        await client.run_steps([step])


async def echo_schema(client: ScriptedClient, **tools: str) -> None:
    listed = client.tools.get(tools["of"])
    if listed is None:
        raise StepFailed(f"tool {tools['of']} is not in the list")
    await call_tool(client, tools["with"], {"schema": listed.get("inputSchema")})


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
