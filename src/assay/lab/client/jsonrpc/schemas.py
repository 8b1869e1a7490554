"""JSON Schemas of tools: dialects, references, results that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.client.declaration import CLIENTS, client_scenario
from assay.lab.client.evidence import AFTER, calls_at, calls_of, has_ended, observe_continued
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import behaviour, misbehaving, on_received
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_client.web import WebClient
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, optional
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage

# --- what is asked


STRING, NUMBER = {"type": "string"}, {"type": "number"}


# In the usual dialect the first item is a text; who knows older ones only would want a number there.
NEW: dict[str, Any] = {"prefixItems": [STRING], "items": NUMBER}


# In an older one the same is written so, which the usual one does not allow.
OLD: dict[str, Any] = {"items": [STRING], "additionalItems": NUMBER}


# --- how it is judged


USUAL, NAMED = "usual_dialect", "named_dialect"


@client_scenario(
    "Schemas are read in the dialect that they name, or in the usual one",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(USUAL), call_tool(NAMED), call_tool(AFTER))),
    exercises=("jsonrpc.dialects",),
)
async def drive_dialects(stage: ClientStage) -> None:
    async def answer(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": "[]"}], "structuredContent": {"row": ["a", 1, 2]}}

    named = {"$schema": "http://json-schema.org/draft-07/schema#"}
    for name, items, more in ((USUAL, NEW, {}), (NAMED, OLD, named)):
        row = {"type": "array", **items}
        schema = {**more, "type": "object", "properties": {"row": row}, "required": ["row"]}
        stage.server.add_tool({"name": name, "outputSchema": schema}, answer)
    stage.server.add_tool({"name": AFTER})


SCHEMA = {"$schema": "https://example.com/dialects/unheard-of", "type": "object"}
FOREIGN = "foreign_dialect"


@client_scenario(
    "A schema in an unknown dialect is no reason to break down",
    script=ClientScript(steps=(LIST_TOOLS, optional(call_tool(FOREIGN)), call_tool(AFTER))),
    exercises=("jsonrpc.unknown-dialect",),
)
async def drive_unknown_dialect(stage: ClientStage) -> None:
    async def answer(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"city": "Bern"}}

    stage.server.add_tool({"name": FOREIGN, "inputSchema": SCHEMA, "outputSchema": SCHEMA}, answer)
    stage.server.add_tool({"name": AFTER})


@client_scenario(
    "Schemas that refer to the network are not fetched",
    script=ClientScript(steps=(LIST_TOOLS, optional(call_tool("referring", city="Bern")), call_tool(AFTER))),
    exercises=("jsonrpc.references",),
)
async def drive_references(stage: ClientStage) -> None:
    async def serve(request: InboundRequest, reply: HttpReply) -> None:
        await reply.respond(200, b'{"type": "string"}', [("Content-Type", "application/schema+json")])

    async def answer(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"city": "Bern"}}

    origin = await stage.add_server(ROOM, serve)
    properties = {"city": {"$ref": f"{origin}/city.json"}}
    schema = {"type": "object", "properties": properties}
    stage.server.add_tool({"name": "referring", "inputSchema": schema, "outputSchema": schema}, answer)
    stage.server.add_tool({"name": AFTER})


MISFIT_SCHEMA = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
MISFIT = "misfit"


@client_scenario(
    "A result that does not fit its schema is not taken",
    # Who finds the result wanting ends here, and is right.
    script=ClientScript(steps=(LIST_TOOLS, call_tool(MISFIT), call_tool(AFTER)), may_fail=True),
    exercises=("jsonrpc.misfit",),
)
async def drive_misfit(stage: ClientStage) -> None:
    async def answer(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": "many"}], "structuredContent": {"count": "many"}}

    stage.server.add_tool({"name": MISFIT, "outputSchema": MISFIT_SCHEMA}, answer)
    stage.server.add_tool({"name": AFTER})


@check("Schemas are read in their dialect", requirements=("JS-01", "JS-02"))
def judge_dialects(trace: Trace) -> Iterator[Observation]:
    expected = "a result to be taken that fits its schema in the dialect of the schema"
    yield from observe_continued("JS-01", trace, USUAL, expected, then=NAMED)
    yield from observe_continued("JS-02", trace, NAMED, expected, then=AFTER)


@check("An unknown dialect is no reason to break down", requirements=("JS-03",))
def judge_unknown_dialect(trace: Trace) -> Iterator[Observation]:
    """Who does not call a tool with such a schema at all has said enough."""
    listed = [one for one in trace.subject_exchanges("tools/list") if one.answer is not None][:1]
    after = calls_of(trace, AFTER)[:1]
    if listed and (after or has_ended(trace)):
        expected = "the client to go on, with an error for this tool or without"
        observed = "the client did not go on"
        yield observe("JS-03", bool(after), *listed, *after, expected=expected, observed=observed)


ROOM = "schemas"


@check("References to the network are not followed", requirements=("JS-07", "TL-29"))
def judge_references(trace: Trace) -> Iterator[Observation]:
    fetched, after = calls_at(trace, ROOM), calls_of(trace, AFTER)
    if fetched or after:
        observed = ", ".join(one.sent.target for one in fetched)
        for row in ("JS-07", "TL-29"):
            expected = "no request for a schema that is referred to"
            yield observe(row, not fetched, *fetched, *after[:1], expected=expected, observed=observed)


@check("Structured results are held against their schema", requirements=("TL-16",))
def judge_misfit(trace: Trace) -> Iterator[Observation]:
    for exchange in [one for one in calls_of(trace, MISFIT) if one.answer is not None][:1]:
        later = calls_of(trace, AFTER)
        if later or has_ended(trace):
            expected = "an error for a result that does not fit its schema"
            observed = "the next step, as if all was well"
            yield observe("TL-16", not later, exchange, *later[:1], expected=expected, observed=observed)


# --- what the checks must catch


@on_received("a schema that names no dialect is read in an older one", breaks="JS-01")
def older_dialect(message: Json, client: ScriptedClient) -> Json:
    for tool in message.get("result", {}).get("tools", []):
        if tool["name"] == USUAL:
            tool["outputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#"
    return message


@on_received("rules of an older dialect are left out of a schema", breaks="JS-02")
def newer_dialect(message: Json, client: ScriptedClient) -> Json:
    for tool in message.get("result", {}).get("tools", []):
        if tool["name"] == NAMED:
            row = tool["outputSchema"]["properties"]["row"]
            row["items"] = row.pop("additionalItems")
    return message


@misbehaving("an unknown dialect ends the client", breaks="JS-03")
async def fragile(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"][:-1])
    raise StepFailed("no validator for this dialect")


@misbehaving("what a schema refers to is fetched", breaks="JS-07", scenario="jsonrpc.references")
async def reference_followed(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps([LIST_TOOLS])
    schema = client.tools["referring"]["inputSchema"]
    await WebClient(client).fetch("GET", schema["properties"]["city"]["$ref"])


@misbehaving("what a schema of results refers to is fetched", breaks="TL-29", scenario="jsonrpc.references")
async def output_reference_followed(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps([LIST_TOOLS])
    schema = client.tools["referring"]["outputSchema"]
    await WebClient(client).fetch("GET", schema["properties"]["city"]["$ref"])


BEHAVIOURS: Final = (
    behaviour(
        "jsonrpc.takes-any-output",
        "structured results are not held against their schema",
        breaks="TL-16",
        transports=CLIENTS,
        validates_output=False,
    ),
)
