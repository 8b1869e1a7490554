"""JSON Schema keywords are preserved, and references are not fetched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from assay.lab.client.altered_message import is_call, with_schema, within, without
from assay.lab.client.declaration import CLIENTS, official_scenario
from assay.lab.client.evidence import fail_unobserved
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import misbehaving, on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.web import Web
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call_tool, step
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
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


ECHOED = {"type": "object", "properties": {"schema": {"type": "object"}}, "required": ["schema"]}


@official_scenario(
    "json-schema-2020-12-preservation",
    "A schema comes out of the client as it went in",
    brief=Brief(steps=(LIST_TOOLS, step("echo_schema", **{"of": RICH, "with": ECHO}))),
    transports=CLIENTS,
)
async def drive_json_schema_2020_12_preservation(stage: ClientStage) -> None:
    stage.host.add_tool({"name": RICH, "description": "Has a rich schema", "inputSchema": SCHEMA})
    stage.host.add_tool({"name": ECHO, "description": "Takes a schema back", "inputSchema": ECHOED})


PATH = "/canary/profile-schema.json"
JSON_SCHEMA_REF_NO_DEREF_DIALECT = "https://json-schema.org/draft/2020-12/schema"
JSON = [("Content-Type", "application/json")]


@official_scenario(
    "json-schema-ref-no-deref",
    "A reference to the network in a schema is left alone",
    brief=Brief(steps=(LIST_TOOLS,)),
    transports=CLIENTS,
)
async def drive_json_schema_ref_no_deref(stage: ClientStage) -> None:
    async def serve(asked: Asked, reply: HttpReply) -> None:
        await reply.whole(200, b'{"type":"object"}', JSON)

    canary = await stage.room("canary", serve)
    schema = {
        "$schema": JSON_SCHEMA_REF_NO_DEREF_DIALECT,
        "type": "object",
        "$defs": {"userId": {"type": "string", "pattern": "^[a-z0-9-]+$"}},
        "properties": {"id": {"$ref": "#/$defs/userId"}, "profile": {"$ref": f"{canary}{PATH}"}},
        "required": ["id"],
    }
    stage.host.streams = True
    stage.host.add_tool(
        {"name": "lookup_user", "description": "Look up a user profile by id", "inputSchema": schema}
    )


# --- how it is judged


FOUND = "json-schema-2020-12-client-tool-found"
JSON_SCHEMA_2020_12_PRESERVATION_ECHOED = "json-schema-2020-12-client-echo-completed"
DEFINED = "json-schema-2020-12-client-$defs-preserved"
ANCHORED = "sep-2106-client-anchor-keyword-preserved"


# By row: the words of the schema that it is about.
WORDS = {
    "json-schema-2020-12-client-$schema-preserved": ("$schema",),
    "json-schema-2020-12-client-additionalProperties-preserved": ("additionalProperties",),
    "sep-2106-client-composition-keywords-preserved": ("allOf",),
    "sep-2106-client-conditional-keywords-preserved": ("if", "then", "else"),
}
ANCHOR = "$anchor"


@official_check(
    "json-schema-2020-12-preservation",
    "Schemas are kept as they are",
    requirements=(FOUND, JSON_SCHEMA_2020_12_PRESERVATION_ECHOED, DEFINED, ANCHORED, *WORDS),
)
def judge_json_schema_2020_12_preservation(trace: Trace) -> Iterator[Observation]:
    owed = {
        FOUND: "a request tools/list",
        JSON_SCHEMA_2020_12_PRESERVATION_ECHOED: f"a call of {ECHO} with the schema",
    }
    yield from fail_unobserved(trace, _seen(trace), owed)


def _seen(trace: Trace) -> Iterator[Observation]:
    for listing in trace.inquiries("tools/list"):
        yield observe(FOUND, True, listing, expected="", observed="")
    for call in trace.inquiries("tools/call"):
        if call.params.get("name") == ECHO:
            yield from _compared(call)


def _compared(call: Exchange) -> Iterator[Observation]:
    arguments = call.params.get("arguments")
    schema = arguments.get("schema") if isinstance(arguments, dict) else None
    told = type(schema).__name__
    yield observe(
        JSON_SCHEMA_2020_12_PRESERVATION_ECHOED,
        isinstance(schema, dict),
        call,
        expected="an object `schema`",
        observed=told,
    )
    if not isinstance(schema, dict):
        return
    for row, words in WORDS.items():
        yield _same(row, call, _only(SCHEMA, words), _only(schema, words))
    kept, given = _address(SCHEMA), _address(schema)
    yield _same(ANCHORED, call, kept.get(ANCHOR), given.get(ANCHOR))
    # The anchor has a row of its own, which is not in force wherever this one is.
    yield _same(DEFINED, call, _without(kept, ANCHOR), _without(given, ANCHOR))


def _same(row: str, call: Exchange, kept: Any, given: Any) -> Observation:
    return observe(row, _text(kept) == _text(given), call, expected=_text(kept), observed=_text(given))


def _text(value: Any) -> str:
    """The same for values that are equal as JSON, where false is no 0."""
    return msgspec.json.encode(value, order="deterministic").decode()


def _only(schema: dict[str, Any], words: tuple[str, ...]) -> dict[str, Any]:
    return {word: schema[word] for word in words if word in schema}


def _without(fields: dict[str, Any], word: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != word}


def _address(schema: dict[str, Any]) -> dict[str, Any]:
    """The one definition that the schema holds."""
    defined = schema.get("$defs")
    address = defined.get("address") if isinstance(defined, dict) else None
    return address if isinstance(address, dict) else {}


ROW = "sep-2106-no-network-ref-deref"
CANARY = "canary"


@official_check("json-schema-ref-no-deref", "The network is not asked for schemas", requirements=(ROW,))
def judge_json_schema_ref_no_deref(trace: Trace) -> Iterator[Observation]:
    yield from fail_unobserved(trace, _json_schema_ref_no_deref_seen(trace), {ROW: "a request tools/list"})


def _json_schema_ref_no_deref_seen(trace: Trace) -> Iterator[Observation]:
    visits = [one for one in trace.frames if one.kind is Kind.REQUEST and one.connection == CANARY]
    for visit in visits:
        told = visit.raw.partition(b"\r\n")[0].decode("latin-1")
        yield observe(ROW, False, visit, expected="no request to the address of a $ref", observed=told)
    for listing in trace.inquiries("tools/list"):
        if listing.result is not None and not visits:
            yield observe(ROW, True, listing, expected="", observed="")


# --- what the checks must catch


@on_message(
    "definitions in a schema lose what is in them", breaks="json-schema-2020-12-client-$defs-preserved"
)
def definitions_emptied(message: Json, client: ScriptedClient) -> Json:
    return with_schema(message, lambda schema: {**schema, "$defs": {"address": {}}})


@on_message("the dialect of a schema is dropped", breaks="json-schema-2020-12-client-$schema-preserved")
def dialect_dropped(message: Json, client: ScriptedClient) -> Json:
    return with_schema(message, lambda schema: without(schema, "$schema"))


@on_message(
    "a schema that is closed is opened", breaks="json-schema-2020-12-client-additionalProperties-preserved"
)
def closed_schema_opened(message: Json, client: ScriptedClient) -> Json:
    return with_schema(message, lambda schema: {**schema, "additionalProperties": True})


@on_message("a schema is given as text", breaks="json-schema-2020-12-client-echo-completed")
def schema_as_text(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, ECHO):
        return message
    text = json.dumps(message["params"]["arguments"]["schema"])
    return within(message, ("params", "arguments"), lambda given: {"schema": text})


@misbehaving("no tool is listed", breaks="json-schema-2020-12-client-tool-found")
async def schema_unlisted(client: ScriptedClient) -> None:
    await client.open()
    await client.play([call_tool(ECHO, schema={"type": "object"})])


@on_message("$anchor is dropped from a schema", breaks="sep-2106-client-anchor-keyword-preserved")
def anchor_dropped(message: Json, client: ScriptedClient) -> Json:
    path = ("params", "arguments", "schema", "$defs", "address")
    return within(message, path, lambda address: without(address, "$anchor"))


@on_message("allOf is dropped from a schema", breaks="sep-2106-client-composition-keywords-preserved")
def composition_dropped(message: Json, client: ScriptedClient) -> Json:
    return with_schema(message, lambda schema: without(schema, "allOf"))


@on_message("else is dropped from a schema", breaks="sep-2106-client-conditional-keywords-preserved")
def condition_halved(message: Json, client: ScriptedClient) -> Json:
    return with_schema(message, lambda schema: without(schema, "else"))


@misbehaving("what a $ref points to is fetched", breaks="sep-2106-no-network-ref-deref")
async def reference_followed(client: ScriptedClient) -> None:
    await client.open()
    await client.play([LIST_TOOLS])
    schema = client.tools["lookup_user"]["inputSchema"]
    await Web(client).fetch("GET", schema["properties"]["profile"]["$ref"])
