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
from assay.lab.harness.scripted_server.server import Tool
from assay.lab.harness.scripted_server.stage import ClientStage

SCHEMAS: Final = "schemas"
USUAL: Final = "usual_dialect"
NAMED: Final = "named_dialect"
FOREIGN: Final = "foreign_dialect"
MISFIT: Final = "misfit"
TUPLE_ITEMS_DIALECT: Final = "http://json-schema.org/draft-07/schema#"

# --- what is asked


STRING, NUMBER = {"type": "string"}, {"type": "number"}
# Each dialect ignores or forbids the other spelling, so that the wrong one rejects the result.
NEW: Final[Json] = {"prefixItems": [STRING], "items": NUMBER}
OLD: Final[Json] = {"items": [STRING], "additionalItems": NUMBER}


def _returning(**content: Any) -> Tool:
    async def answer(cycle: RequestCycle) -> Answer:
        return {"content": [{"type": "text", "text": "{}"}], "structuredContent": content}

    return answer


@client_scenario(
    "Return results whose schemas have different dialects",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(USUAL), call_tool(NAMED), call_tool(AFTER))),
    exercises=("jsonrpc.dialects",),
)
async def drive_dialects(stage: ClientStage) -> None:
    for name, items, more in ((USUAL, NEW, {}), (NAMED, OLD, {"$schema": TUPLE_ITEMS_DIALECT})):
        row = {"type": "array", **items}
        schema = {**more, "type": "object", "properties": {"row": row}, "required": ["row"]}
        stage.server.add_tool({"name": name, "outputSchema": schema}, _returning(row=["a", 1, 2]))
    stage.server.add_tool({"name": AFTER})


@client_scenario(
    "Offer a tool whose schema has an unknown dialect",
    script=ClientScript(steps=(LIST_TOOLS, optional(call_tool(FOREIGN)), call_tool(AFTER))),
    exercises=("jsonrpc.unknown-dialect",),
)
async def drive_unknown_dialect(stage: ClientStage) -> None:
    schema = {"$schema": "https://example.com/dialects/unheard-of", "type": "object"}
    tool = {"name": FOREIGN, "inputSchema": schema, "outputSchema": schema}
    stage.server.add_tool(tool, _returning(city="Bern"))
    stage.server.add_tool({"name": AFTER})


@client_scenario(
    "Offer a tool whose schemas refer to a URL",
    script=ClientScript(steps=(LIST_TOOLS, optional(call_tool("referring", city="Bern")), call_tool(AFTER))),
    exercises=("jsonrpc.references",),
)
async def drive_references(stage: ClientStage) -> None:
    async def serve(request: InboundRequest, reply: HttpReply) -> None:
        await reply.respond(200, b'{"type": "string"}', [("Content-Type", "application/schema+json")])

    origin = await stage.add_server(SCHEMAS, serve)
    schema = {"type": "object", "properties": {"city": {"$ref": f"{origin}/city.json"}}}
    tool = {"name": "referring", "inputSchema": schema, "outputSchema": schema}
    stage.server.add_tool(tool, _returning(city="Bern"))
    stage.server.add_tool({"name": AFTER})


@client_scenario(
    "Return a result that violates its schema",
    # A client that rejects the result may exit with an error.
    script=ClientScript(steps=(LIST_TOOLS, call_tool(MISFIT), call_tool(AFTER)), may_fail=True),
    exercises=("jsonrpc.misfit",),
)
async def drive_misfit(stage: ClientStage) -> None:
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    stage.server.add_tool({"name": MISFIT, "outputSchema": schema}, _returning(count="many"))
    stage.server.add_tool({"name": AFTER})


# --- how it is judged


@check("Schemas are evaluated in their dialect", requirements=("JS-01", "JS-02"))
def judge_dialects(trace: Trace) -> Iterator[Observation]:
    expected = "the client to accept a result that is valid in the dialect of its schema"
    yield from observe_continued("JS-01", trace, USUAL, expected, then=NAMED)
    yield from observe_continued("JS-02", trace, NAMED, expected, then=AFTER)


@check("An unknown dialect does not stop the client", requirements=("JS-03",))
def judge_unknown_dialect(trace: Trace) -> Iterator[Observation]:
    # A client need not call a tool with such a schema.
    lists = [page for page in trace.subject_exchanges("tools/list") if page.answer is not None][:1]
    after = calls_of(trace, AFTER)[:1]
    if lists and (after or has_ended(trace)):
        expected = "the client to continue, with or without an error for this tool"
        observed = "the client did not continue"
        yield observe("JS-03", bool(after), *lists, *after, expected=expected, observed=observed)


@check("References to URLs are not fetched", requirements=("JS-07", "TL-29"))
def judge_references(trace: Trace) -> Iterator[Observation]:
    fetched, after = calls_at(trace, SCHEMAS), calls_of(trace, AFTER)[:1]
    for requirement in ("JS-07", "TL-29") if fetched or after else ():
        expected = "no request for a referenced schema"
        observed = ", ".join(call.sent.target for call in fetched)
        yield observe(requirement, not fetched, *fetched, *after, expected=expected, observed=observed)


@check("Structured results are validated against their schema", requirements=("TL-16",))
def judge_misfit(trace: Trace) -> Iterator[Observation]:
    for call in [call for call in calls_of(trace, MISFIT) if call.answer is not None][:1]:
        later = calls_of(trace, AFTER)[:1]
        if later or has_ended(trace):
            expected, observed = "an error for a result that violates its schema", "the next step"
            yield observe("TL-16", not later, call, *later, expected=expected, observed=observed)


# --- what the checks must catch


@on_received("evaluates a schema without a dialect in an older one", breaks="JS-01")
def older_dialect(message: Json, client: ScriptedClient) -> Json:
    for tool in message.get("result", {}).get("tools", []):
        if tool["name"] == USUAL:
            tool["outputSchema"]["$schema"] = TUPLE_ITEMS_DIALECT
    return message


@on_received("ignores the keywords of an older dialect", breaks="JS-02")
def newer_dialect(message: Json, client: ScriptedClient) -> Json:
    for tool in message.get("result", {}).get("tools", []):
        if tool["name"] == NAMED:
            row = tool["outputSchema"]["properties"]["row"]
            row["items"] = row.pop("additionalItems")
    return message


@misbehaving("exits because of an unknown dialect", breaks="JS-03")
async def fragile(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"][:-1])
    raise StepFailed("no validator for this dialect")


@misbehaving("fetches a reference in an input schema", breaks="JS-07", scenario="jsonrpc.references")
async def reference_followed(client: ScriptedClient) -> None:
    await _fetch_reference(client, "inputSchema")


@misbehaving("fetches a reference in an output schema", breaks="TL-29", scenario="jsonrpc.references")
async def output_reference_followed(client: ScriptedClient) -> None:
    await _fetch_reference(client, "outputSchema")


async def _fetch_reference(client: ScriptedClient, key: str) -> None:
    await client.open()
    await client.run_steps([LIST_TOOLS])
    await WebClient(client).fetch("GET", client.tools["referring"][key]["properties"]["city"]["$ref"])


BEHAVIOURS: Final = (
    behaviour(
        "jsonrpc.takes-any-output",
        "does not validate structured results",
        breaks="TL-16",
        transports=CLIENTS,
        validates_output=False,
    ),
)
