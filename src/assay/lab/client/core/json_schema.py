"""JSON Schemas: clients preserve the keywords, and do not fetch references."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assay.lab.client.altered_message import is_call, with_params, with_schema, within, without
from assay.lab.client.canary import CANARY
from assay.lab.client.declaration import CLIENTS, official_scenario
from assay.lab.client.evidence import calls_of, fail_unobserved
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur, misbehaving, on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.web import WebClient
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, step
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Exchange

RICH: Final = "json_schema_2020_12_tool"
ECHO: Final = "json_schema_echo"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TEXT: Final = {"type": "string"}
SCHEMA: Final[dict[str, Any]] = {
    "$schema": DIALECT,
    "type": "object",
    "$defs": {
        "address": {"$anchor": "addressDef", "type": "object", "properties": {"street": TEXT, "city": TEXT}}
    },
    "properties": {
        "name": TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": TEXT,
        "email": TEXT,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


# --- what is asked


ECHO_SCHEMA: Final = {"type": "object", "properties": {"schema": {"type": "object"}}, "required": ["schema"]}


@official_scenario(
    "json-schema-2020-12-preservation",
    "Have the client send a tool's schema back",
    script=ClientScript(steps=(LIST_TOOLS, step("echo_schema", **{"of": RICH, "with": ECHO}))),
    transports=CLIENTS,
)
async def drive_json_schema_2020_12_preservation(stage: ClientStage) -> None:
    stage.server.add_tool({"name": RICH, "description": "Has a rich schema", "inputSchema": SCHEMA})
    stage.server.add_tool({"name": ECHO, "description": "Takes a schema back", "inputSchema": ECHO_SCHEMA})


PATH: Final = "/canary/profile-schema.json"
JSON: Final = [("Content-Type", "application/json")]


@official_scenario(
    "json-schema-ref-no-deref",
    "List a tool whose schema refers to a URL",
    script=ClientScript(steps=(LIST_TOOLS,)),
    transports=CLIENTS,
)
async def drive_json_schema_ref_no_deref(stage: ClientStage) -> None:
    async def serve(request: InboundRequest, reply: HttpReply) -> None:
        await reply.respond(200, b'{"type":"object"}', JSON)

    origin = await stage.add_server(CANARY, serve)
    schema = {
        "$schema": DIALECT,
        "type": "object",
        "$defs": {"userId": {"type": "string", "pattern": "^[a-z0-9-]+$"}},
        "properties": {"id": {"$ref": "#/$defs/userId"}, "profile": {"$ref": f"{origin}{PATH}"}},
        "required": ["id"],
    }
    stage.server.streams = True
    stage.server.add_tool(
        {"name": "lookup_user", "description": "Look up a user profile by id", "inputSchema": schema}
    )


# --- how it is judged


LISTED: Final = "json-schema-2020-12-client-tool-found"
ECHOED: Final = "json-schema-2020-12-client-echo-completed"
DEFINITIONS: Final = "json-schema-2020-12-client-$defs-preserved"
ANCHORS: Final = "sep-2106-client-anchor-keyword-preserved"
KEYWORDS: Final = {
    "json-schema-2020-12-client-$schema-preserved": ("$schema",),
    "json-schema-2020-12-client-additionalProperties-preserved": ("additionalProperties",),
    "sep-2106-client-composition-keywords-preserved": ("allOf",),
    "sep-2106-client-conditional-keywords-preserved": ("if", "then", "else"),
}


@official_check(
    "json-schema-2020-12-preservation",
    "Schemas are preserved",
    requirements={
        LISTED: "The tools were not listed",
        ECHOED: "The schema was not sent back as an object",
        DEFINITIONS: "`$defs` was not preserved",
        ANCHORS: "`$anchor` was not preserved",
        "json-schema-2020-12-client-$schema-preserved": "`$schema` was not preserved",
        "json-schema-2020-12-client-additionalProperties-preserved": "`additionalProperties` was changed",
        "sep-2106-client-composition-keywords-preserved": "`allOf` was not preserved",
        "sep-2106-client-conditional-keywords-preserved": "`if`, `then` or `else` was not preserved",
    },
)
def judge_json_schema_2020_12_preservation(trace: Trace) -> Iterator[Observation]:
    expected = {LISTED: "a request tools/list", ECHOED: f"a call of {ECHO} with the schema"}
    yield from fail_unobserved(trace, _schemas(trace), expected)


def _schemas(trace: Trace) -> Iterator[Observation]:
    for listing in trace.subject_exchanges("tools/list"):
        yield observe(LISTED, True, listing, expected="", observed="")
    for call in calls_of(trace, ECHO):
        arguments = call.params.get("arguments")
        schema = arguments.get("schema") if isinstance(arguments, dict) else None
        echoed, observed = isinstance(schema, dict), type(schema).__name__
        yield observe(ECHOED, echoed, call, expected="an object `schema`", observed=observed)
        if isinstance(schema, dict):
            yield from _compare(call, schema)


def _compare(call: Exchange, schema: dict[str, Any]) -> Iterator[Observation]:
    for requirement, keywords in KEYWORDS.items():
        yield _same(requirement, call, _only(SCHEMA, keywords), _only(schema, keywords))
    original, echoed = _address(SCHEMA), _address(schema)
    yield _same(ANCHORS, call, original.get("$anchor"), echoed.get("$anchor"))
    # `$anchor` has its own requirement, which is in force in fewer revisions than this one.
    yield _same(DEFINITIONS, call, without(original, "$anchor"), without(echoed, "$anchor"))


def _same(requirement: str, call: Exchange, original: Any, echoed: Any) -> Observation:
    expected, observed = _text(original), _text(echoed)
    return observe(requirement, expected == observed, call, expected=expected, observed=observed)


def _text(value: Any) -> str:
    """A text that is the same for values that are equal as JSON, where `false` is not 0."""
    return msgspec.json.encode(value, order="deterministic").decode()


def _only(schema: dict[str, Any], keywords: tuple[str, ...]) -> dict[str, Any]:
    return {keyword: schema[keyword] for keyword in keywords if keyword in schema}


def _address(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = schema.get("$defs")
    address = definitions.get("address") if isinstance(definitions, dict) else None
    return address if isinstance(address, dict) else {}


NO_FETCH: Final = "sep-2106-no-network-ref-deref"


@official_check(
    "json-schema-ref-no-deref",
    "Schemas are not fetched from the network",
    requirements={NO_FETCH: "A `$ref` to a URL was fetched"},
)
def judge_json_schema_ref_no_deref(trace: Trace) -> Iterator[Observation]:
    yield from fail_unobserved(trace, _references(trace), {NO_FETCH: "a request tools/list"})


def _references(trace: Trace) -> Iterator[Observation]:
    fetches = [frame for frame in trace.frames if frame.kind is Kind.REQUEST and frame.connection == CANARY]
    for fetch in fetches:
        observed = fetch.raw.partition(b"\r\n")[0].decode("latin-1")
        yield observe(NO_FETCH, False, fetch, expected="no request to the URL of a $ref", observed=observed)
    for listing in trace.subject_exchanges("tools/list"):
        if listing.result is not None and not fetches:
            yield observe(NO_FETCH, True, listing, expected="", observed="")


# --- what the checks must catch


@on_message("sends a schema as text", breaks=ECHOED)
def schema_as_text(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, ECHO):
        return message
    text = json.dumps(message["params"]["arguments"]["schema"])
    return with_params(message, arguments={"schema": text})


@misbehaving("calls a tool without listing any", breaks=LISTED)
async def schema_unlisted(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps([call_tool(ECHO, schema={"type": "object"})])


@on_message("drops `$anchor` from a schema", breaks=ANCHORS)
def anchor_dropped(message: Json, client: ScriptedClient) -> Json:
    path = ("params", "arguments", "schema", "$defs", "address")
    return within(message, path, lambda address: without(address, "$anchor"))


@misbehaving("fetches the URL of a `$ref`", breaks=NO_FETCH)
async def reference_followed(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps([LIST_TOOLS])
    schema = client.tools["lookup_user"]["inputSchema"]
    await WebClient(client).fetch("GET", schema["properties"]["profile"]["$ref"])


def _changes_schema(name: str, fault: str, keyword: str, value: Any = None, *, of: str) -> ClientSaboteur:
    """A client that sends a schema back with another value of a keyword; `None` drops the keyword."""
    added = {} if value is None else {keyword: value}
    return on_message(fault, breaks=of, id=f"core.{name}")(
        lambda message, client: with_schema(message, lambda schema: without(schema, keyword) | added)
    )


SCHEMA_EDITS: Final = (
    _changes_schema(
        "definitions-emptied", "empties the definitions in a schema", "$defs", {"address": {}}, of=DEFINITIONS
    ),
    _changes_schema(
        "closed-schema-opened",
        "allows additional properties in a closed schema",
        "additionalProperties",
        True,
        of="json-schema-2020-12-client-additionalProperties-preserved",
    ),
    _changes_schema(
        "dialect-dropped",
        "drops `$schema` from a schema",
        "$schema",
        of="json-schema-2020-12-client-$schema-preserved",
    ),
    _changes_schema(
        "composition-dropped",
        "drops `allOf` from a schema",
        "allOf",
        of="sep-2106-client-composition-keywords-preserved",
    ),
    _changes_schema(
        "condition-halved",
        "drops `else` from a schema",
        "else",
        of="sep-2106-client-conditional-keywords-preserved",
    ),
)
