"""Everything that a server sends fits the JSON-RPC envelope and the schema of the revision."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    ABSENT,
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    edited_results,
    observe,
    on_reply,
    on_result,
    scenario,
)
from assay.lab.harness.need import A_TOOL
from assay.lab.harness.sabotage.alteration import encode
from assay.lab.harness.sabotage.saboteur import Saboteur, newest_of_each_kind
from assay.lab.harness.trace.json_schema import DIALECT, dialect_of, dialect_problem
from assay.lab.harness.trace.shape import observed_shapes
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Evidence
from assay.lab.suite.envelope import are_objects, is_utf8
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Batching

# --- what is asked


@scenario(
    "Call tools that may send requests and notifications",
    exercises=(
        "jsonrpc.published-schemas",
        "jsonrpc.meta-keys",
        "jsonrpc.request-ids",
        "jsonrpc.notification-ids",
        "jsonrpc.wire-shape",
    ),
    needs=(A_TOOL,),
)
async def drive_own_words(stage: Stage) -> None:
    peer = await stage.open(sampling={}, elicitation={}, roots={})
    await peer.pages("tools/list", "tools")
    for tool in stage.facts.quick_tools[:12]:
        await peer.call(tool, stage.facts.arguments_for(tool))


# --- how it is judged


@check(
    "Messages fit the schema of the revision",
    requirements={"SHAPE-01": "A message does not fit the schema of the revision"},
    everywhere=True,
)
def judge_wire_shape(trace: Trace) -> Iterator[Observation]:
    yield from observed_shapes("SHAPE-01", trace)


@check("Published schemas are valid in their dialect", requirements=("JS-04", "JS-06"), everywhere=True)
def judge_published_schemas(trace: Trace) -> Iterator[Observation]:
    for name, schema, evidence in _schemas(trace):
        problem = dialect_problem(schema)
        expected = f"a schema of {name} that is valid in its dialect"
        yield observe("JS-04", problem is None, evidence, expected=expected, observed=problem)
        dialect = dialect_of(schema)
        yield observe("JS-06", dialect == DIALECT, evidence, expected=DIALECT, observed=f"{name}: {dialect}")


def _schemas(trace: Trace) -> Iterator[tuple[str, dict[str, Any], Evidence]]:
    for exchange in trace.exchanges("tools/list"):
        for tool in exchange.objects("tools"):
            for key in ("inputSchema", "outputSchema"):
                if isinstance(tool.get(key), dict):
                    yield f"{tool.get('name')}.{key}", tool[key], exchange
    for message in trace.received:
        if message.method == "elicitation/create" and isinstance(message.params.get("requestedSchema"), dict):
            yield "requestedSchema", message.params["requestedSchema"], message


LABEL: Final = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
PREFIX: Final = re.compile(rf"{LABEL}(?:\.{LABEL})*")
NAME: Final = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?")


# Members whose content is defined by the server's author.
OPAQUE: Final = frozenset(
    {
        *("_meta", "structuredContent", "arguments", "data", "inputSchema", "outputSchema"),
        *("requestedSchema", "experimental", "extensions", "input"),
    }
)
TOP_LEVEL_DOMAINS: Final = frozenset(
    {"com", "org", "net", "io", "dev", "ai", "app", "co", "edu", "gov", "info", "me", "sh", "tech"}
)
MAX_DEPTH: Final = 16


@check(
    "Keys of `_meta` follow the grammar",
    requirements={
        "META-01": "The prefix of a key of `_meta` is not valid",
        "META-02": "The name of a key of `_meta` is not valid",
        "META-04": "The prefix of a key of `_meta` is not in reverse-DNS order",
    },
    everywhere=True,
)
def judge_meta_keys(trace: Trace) -> Iterator[Observation]:
    for message in trace.rpc_messages:
        for key in _keys(message.fields):
            prefix, slash, rest = key.partition("/")
            name = rest if slash else prefix
            observed = f"key {key!r}"
            expected = "a name of letters, digits, `-`, `_`, `.`, with a letter or digit at both ends"
            valid = bool(NAME.fullmatch(name))
            yield observe("META-02", valid, message, expected=expected, observed=observed)
            if slash:
                expected = "a prefix of labels of letters, digits and hyphens, separated by dots"
                valid = bool(PREFIX.fullmatch(prefix))
                yield observe("META-01", valid, message, expected=expected, observed=observed)
                expected = "a prefix in reverse-DNS order"
                reverse = not _is_host_name(prefix)
                yield observe("META-04", reverse, message, expected=expected, observed=observed)


def _keys(value: Any, depth: int = 0) -> Iterator[str]:
    """The keys of every `_meta` in a message."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _keys(item, depth + 1)
    elif isinstance(value, dict):
        meta = value.get("_meta")
        yield from meta if isinstance(meta, dict) else ()
        for key, item in value.items():
            if key not in OPAQUE:
                yield from _keys(item, depth + 1)


def _is_host_name(prefix: str) -> bool:
    """Whether a prefix ends with a top-level domain and does not begin with one."""
    first, *rest = prefix.lower().split(".")
    return bool(rest) and rest[-1] in TOP_LEVEL_DOMAINS and first not in TOP_LEVEL_DOMAINS


@check("Every message is a JSON-RPC 2.0 object", requirements=("BASE-01",), everywhere=True)
def judge_version(trace: Trace) -> Iterator[Observation]:
    return are_objects(trace.rpc_messages, trace.revision)


@check("Messages are UTF-8", requirements=("BASE-12",), everywhere=True)
def judge_utf8(trace: Trace) -> Iterator[Observation]:
    for message in trace.rpc_messages:
        if not message.body.isascii():
            yield is_utf8(message)


# --- what the checks must catch


@on_result(
    "sends `nextCursor` as null on the last page",
    breaks="SHAPE-01",
    scenario="tools.definitions",
    method="tools/list",
)
def null_cursor(result: Json, context: FaultContext) -> None:
    result.setdefault("nextCursor", None)


@on_result(
    "sends optional fields of tools as null",
    breaks="SHAPE-01",
    scenario="tools.definitions",
    method="tools/list",
)
def null_description(result: Json, context: FaultContext) -> None:
    for tool in result["tools"]:
        tool["description"] = None


@on_reply(
    "sends an empty result as null",
    breaks="SHAPE-01",
    scenario="jsonrpc.ids",
    window=lambda revision: revision in HANDSHAKE,
)
def null_result(reply: Json, context: FaultContext) -> Json:
    return {**reply, "result": None} if reply.get("result") == {} else reply


@on_result("sends an object as `tools`", breaks="SHAPE-01", scenario="tools.definitions", method="tools/list")
def one_tool_is_no_list(result: Json, context: FaultContext) -> None:
    result["tools"] = result["tools"][0]


@on_result("publishes a schema with `required: true` in a property", breaks="JS-04", method="tools/list")
def required_by_property(result: Json, context: FaultContext) -> None:
    for tool in result["tools"]:
        tool["inputSchema"]["properties"] = {"text": {"type": "string", "required": True}}


@on_result("names draft-07 as the dialect of a schema", breaks="JS-06", method="tools/list")
def schema_of_old(result: Json, context: FaultContext) -> None:
    for tool in result["tools"]:
        tool["inputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#"


def _meta_key(name: str, fault: str, breaks: str, key: str) -> Saboteur:
    @on_result(fault, id=name, breaks=breaks)
    def saboteur(result: Json, context: FaultContext) -> None:
        result.setdefault("_meta", {})[key] = "7f"

    return saboteur


META_KEYS: Final = (
    _meta_key(
        "jsonrpc.meta-prefix", "sends a `_meta` prefix with an underscore", "META-01", "my_server/trace"
    ),
    _meta_key("jsonrpc.meta-name", "sends a `_meta` key that begins with `$`", "META-02", "$internal"),
    _meta_key(
        "jsonrpc.meta-host-name", "sends a host name as `_meta` prefix", "META-04", "example.com/trace"
    ),
)


@on_reply(
    "sends a message as an array of one",
    breaks="BASE-01",
    window=lambda revision: revision.batching is Batching.REFUSED,
)
def array_of_one(reply: Json, context: FaultContext) -> bytes:
    return encode([reply])


@on_reply("omits `jsonrpc`", breaks="BASE-01")
def no_version(reply: Json, context: FaultContext) -> Json:
    return {key: value for key, value in reply.items() if key != "jsonrpc"}


@on_reply("sends `jsonrpc` as the number 2.0", breaks="BASE-01", window=newest_of_each_kind)
def version_number(reply: Json, context: FaultContext) -> Json:
    return {**reply, "jsonrpc": 2.0}


@on_reply(
    "cuts a text in the middle of a character",
    breaks="BASE-12",
    scenario="jsonrpc.unknown-method",
    transports=STDIO_ONLY,
    window=lambda revision: revision is HANDSHAKE[-1],
    silent=True,
    id="framing.cut-character",
)
def cut_character(reply: Json, context: FaultContext) -> Json | bytes:
    if "error" not in reply:
        return reply
    text = {**reply["error"], "message": "There is no method of that na…"}
    ellipsis = "…".encode()
    return encode({**reply, "error": text}).replace(ellipsis, ellipsis[:1])


@on_reply(
    "writes messages in Latin-1", breaks="BASE-12", scenario="jsonrpc.ids", silent=True, id="framing.latin1"
)
def latin1(reply: Json, context: FaultContext) -> Json | bytes:
    text = json.dumps(reply, ensure_ascii=False)
    return reply if text.isascii() else text.encode("latin-1", "replace")


RESULT_EDITS: Final = edited_results(
    "tools/call",
    ("jsonrpc.nothing-said", "omits `content` from a tool's result", "SHAPE-01", "content", ABSENT),
    scenario="tools.read-only-calls",
)
