"""Standard and custom headers, and tools whose header annotations are invalid."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import quote, unquote

from assay.lab.client.altered_message import alters_header, within, without_header_marks
from assay.lab.client.declaration import official_scenario
from assay.lab.client.evidence import HANDSHAKE_METHODS, fail_unobserved
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Request, Trace, observe
from assay.lab.harness.driver.message_meta import as_header
from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur, misbehaving, on_received, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool, step
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import (
    VERSION,
    Mirror,
    as_text,
    param_mirrors,
    request_of,
    standard_mirrors,
)

# --- what is asked


TOOL_NAMES: Final = ("test_headers", "my-hyphenated-tool")
URIS: Final = ("file:///path/to/file%20name.txt", "https://example.com/resource?id=123")
PROMPT: Final = "test_prompt"


@official_scenario(
    "http-standard-headers",
    "Send requests that mirror their method and name in headers",
    script=ClientScript(
        steps=(
            LIST_TOOLS,
            *(call_tool(name) for name in TOOL_NAMES),
            step("list_resources"),
            *(step("read_resource", uri=uri) for uri in URIS),
            step("list_prompts"),
            step("get_prompt", name=PROMPT, arguments={}),
        ),
        path="",
    ),
)
async def drive_http_standard_headers(stage: ClientStage) -> None:
    for name in TOOL_NAMES:
        stage.server.add_tool({"name": name, "inputSchema": {"type": "object", "properties": {}}})
    for uri in URIS:
        stage.server.add_resource(uri)
    stage.server.add_prompt(PROMPT, description="A simple prompt")


ALL_VALUES: Final = "test_custom_headers"
NULL_VALUE: Final = "test_custom_headers_null"
# The type of each parameter, its header if it is annotated, and the value in the call.
PARAMETERS: Final[dict[str, tuple[str, str | None, Any]]] = {
    "region": ("string", "Region", "us-west1"),
    "priority": ("integer", "Priority", 42),
    "verbose": ("boolean", "Verbose", False),
    "debug": ("boolean", "Debug", True),
    "empty_val": ("string", "EmptyVal", ""),
    "method_val": ("string", "Method", "test-method"),
    "float_val": ("number", None, 3.14159),
    "non_ascii_val": ("string", "NonAscii", "Hello, 世界"),
    "whitespace_val": ("string", "Whitespace", " padded "),
    "leading_space_val": ("string", "LeadingSpace", " us-west1"),
    "trailing_space_val": ("string", "TrailingSpace", "us-west1 "),
    "internal_space_val": ("string", "InternalSpace", "us west 1"),
    "control_char_val": ("string", "ControlChar", "line1\nline2"),
    "crlf_val": ("string", "CrLf", "line1\r\nline2"),
    "tab_val": ("string", "Tab", "\tindented"),
    "query": ("string", None, "SELECT * FROM users"),
}
CUSTOM_CALLS: Final[dict[str, dict[str, Any]]] = {
    ALL_VALUES: {name: value for name, (_, _, value) in PARAMETERS.items()},
    NULL_VALUE: {"region": "us-east1", "priority": 1, "verbose": None, "query": "SELECT 1"},
}


def _property(kind: str, header: str | None) -> Json:
    return {"type": kind} if header is None else {"type": kind, "x-mcp-header": header}


def _tool(name: str, properties: Json, required: Iterable[str]) -> Json:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "inputSchema": schema}


CUSTOM_TOOLS: Final = {
    name: _tool(
        name,
        {parameter: _property(*PARAMETERS[parameter][:2]) for parameter in arguments},
        ("region", "priority", "query"),
    )
    for name, arguments in CUSTOM_CALLS.items()
}


@official_scenario(
    "http-custom-headers",
    "Call tools whose annotated arguments are mirrored in headers",
    script=ClientScript(steps=(LIST_TOOLS, step("context_calls")), path=""),
)
async def drive_http_custom_headers(stage: ClientStage) -> None:
    for tool in CUSTOM_TOOLS.values():
        stage.server.add_tool(tool)
    calls = [{"name": name, "arguments": arguments} for name, arguments in CUSTOM_CALLS.items()]
    stage.context = {**stage.context, "toolCalls": calls}


VALID: Final = "valid_tool"
VALID_ARGUMENTS: Final = {"region": "us-west1"}
NOT_EMPTY: Final = "sep-2243-x-mcp-header-not-empty"
PRIMITIVE_ONLY: Final = "sep-2243-x-mcp-header-primitive-only"
UNIQUE: Final = "sep-2243-x-mcp-header-unique"
CHARSET: Final = "sep-2243-x-mcp-header-charset"
# The tools that violate each requirement, with the type and the header of each parameter.
INVALID: Final[dict[str, dict[str, dict[str, tuple[str, str]]]]] = {
    NOT_EMPTY: {"invalid_empty_header": {"value": ("string", "")}},
    PRIMITIVE_ONLY: {
        "invalid_object_header": {"data": ("object", "Data")},
        "invalid_array_header": {"items": ("array", "Items")},
        "invalid_null_header": {"nil": ("null", "Nil")},
        "invalid_number_header": {"score": ("number", "Score")},
    },
    UNIQUE: {
        "invalid_duplicate_same_case": {"field1": ("string", "Region"), "field2": ("string", "Region")},
        "invalid_duplicate_diff_case": {"field1": ("string", "MyField"), "field2": ("string", "myfield")},
    },
    CHARSET: {
        "invalid_space_in_name": {"value": ("string", "My Region")},
        "invalid_colon_in_name": {"value": ("string", "Region:Primary")},
        "invalid_non_ascii_name": {"value": ("string", "Région")},
        "invalid_control_char_name": {"value": ("string", "Region\t1")},
    },
}
ANNOTATED: Final = {
    VALID: {"region": ("string", "Region")},
    **{name: parameters for tools in INVALID.values() for name, parameters in tools.items()},
}
PLAUSIBLE: Final[Json] = {"string": "text", "object": {}, "array": ["text"], "null": None, "number": 1.5}
ANNOTATED_CALLS: Final[dict[str, Json]] = {
    name: {parameter: PLAUSIBLE[kind] for parameter, (kind, _) in parameters.items()}
    for name, parameters in ANNOTATED.items()
} | {VALID: VALID_ARGUMENTS}


@official_scenario(
    "http-invalid-tool-headers",
    "List tools with invalid header annotations next to a valid one",
    script=ClientScript(
        steps=(LIST_TOOLS, step("call_listed", arguments=ANNOTATED_CALLS)), path="", may_fail=True
    ),
)
async def drive_http_invalid_tool_headers(stage: ClientStage) -> None:
    for name, parameters in ANNOTATED.items():
        properties = {key: _property(kind, header) for key, (kind, header) in parameters.items()}
        stage.server.add_tool(_tool(name, properties, parameters))


# --- how it is judged


STANDARD: Final = "sep-2243-client-includes-standard-headers"


@official_check(
    "http-standard-headers",
    "Headers mirror the method and the name",
    requirements={STANDARD: "A header does not mirror the method or the name"},
    transports=HTTP_ONLY,
)
def judge_http_standard_headers(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if any(message.method in HANDSHAKE_METHODS for message in call.request_messages):
            continue
        for mirror in standard_mirrors(call, trace.revision):
            if mirror.header != VERSION:
                expected = f"{mirror.header}: {mirror.value}"
                yield observe(
                    STANDARD, mirror.flaw is None, call, expected=expected, observed=_description(mirror)
                )


def _description(mirror: Mirror) -> str:
    return f"no {mirror.header}" if mirror.sent is None else f"{mirror.header}: {mirror.sent!r}"


SUPPORTED: Final = "sep-2243-client-supports-custom-headers"
MIRRORED: Final = "sep-2243-client-mirrors-designated-params"
ENCODED: Final = "sep-2243-client-encode-values"
UNSAFE: Final = "sep-2243-client-base64-unsafe"
NO_NULL: Final = "sep-2243-client-omit-null"
NUMBER: Final = re.compile(r"-?\d{1,300}(\.\d{1,300})?", re.ASCII)


@official_check(
    "http-custom-headers",
    "Annotated arguments are mirrored",
    requirements={
        SUPPORTED: "No argument was mirrored in a header",
        MIRRORED: "An annotated argument was not mirrored, or another one was",
        ENCODED: "A number or a boolean was encoded wrongly in a header",
        UNSAFE: "An unsafe value was not encoded in Base64",
        NO_NULL: "An argument that is null has a header",
    },
    transports=HTTP_ONLY,
)
def judge_http_custom_headers(trace: Trace) -> Iterator[Observation]:
    expected = dict.fromkeys((SUPPORTED, MIRRORED, ENCODED, UNSAFE), f"a call of {ALL_VALUES} with arguments")
    expected[NO_NULL] = f"a call of {NULL_VALUE}"
    yield from fail_unobserved(trace, _custom_calls(trace), expected)


def _custom_calls(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        message = request_of(call)
        name = message.params.get("name") if message and message.method == "tools/call" else None
        if isinstance(name, str) and name in CUSTOM_TOOLS:
            yield from _judge_custom(call, name, param_mirrors(call, CUSTOM_TOOLS))


def _judge_custom(call: Call, name: str, mirrors: list[Mirror]) -> Iterator[Observation]:
    headers = [key for key, _ in call.sent.headers if key.lower().startswith("mcp-param-")]
    if name == ALL_VALUES:
        observed = ", ".join(headers) or "none"
        yield observe(SUPPORTED, bool(headers), call, expected="headers Mcp-Param-*", observed=observed)
    annotated = {mirror.header.lower() for mirror in mirrors}
    strays = [key for key in headers if key.lower() not in annotated]
    expected = "headers of annotated parameters only"
    yield observe(MIRRORED, not strays, call, expected=expected, observed=", ".join(strays))
    for mirror in mirrors:
        if mirror.value is not None:
            yield _judge_mirror(call, mirror)
        else:
            expected = f"no {mirror.header}"
            yield observe(
                NO_NULL, mirror.sent is None, call, expected=expected, observed=_description(mirror)
            )


def _judge_mirror(call: Call, mirror: Mirror) -> Observation:
    text = as_text(mirror.value)
    unsafe = as_header(text) != text
    requirement = UNSAFE if unsafe else MIRRORED if isinstance(mirror.value, str) else ENCODED
    holds = _is_faithful(mirror) and (mirror.is_encoded or not unsafe)
    expected = f"{mirror.header}: {as_header(text)}"
    return observe(requirement, holds, call, expected=expected, observed=_description(mirror))


def _is_faithful(mirror: Mirror) -> bool:
    """Whether the header equals the body; numbers are compared by value."""
    if mirror.flaw is None:
        return True
    if isinstance(mirror.value, bool) or not isinstance(mirror.value, int | float):
        return False
    return (
        NUMBER.fullmatch(mirror.decoded() or "") is not None and float(mirror.decoded() or "") == mirror.value
    )


LISTED: Final = "sep-2243-invalid-tool-tools-list-gate"
VALID_KEPT: Final = "sep-2243-client-reject-invalid-tool"


@official_check(
    "http-invalid-tool-headers",
    "Tools with invalid header annotations are excluded",
    requirements={
        LISTED: "The tools were not listed",
        VALID_KEPT: "The tool with a valid annotation was not called",
        NOT_EMPTY: "A tool with an empty header annotation was called",
        PRIMITIVE_ONLY: "A tool with a header annotation on a type that allows none was called",
        UNIQUE: "A tool with two equal header annotations was called",
        CHARSET: "A tool with invalid characters in a header annotation was called",
    },
    transports=HTTP_ONLY,
)
def judge_http_invalid_tool_headers(trace: Trace) -> Iterator[Observation]:
    expected = {LISTED: "a request tools/list", VALID_KEPT: f"a call of {VALID}"}
    yield from fail_unobserved(trace, _annotated_calls(trace), expected)


def _annotated_calls(trace: Trace) -> Iterator[Observation]:
    calls = {str(call.params.get("name")): call for call in trace.subject_exchanges("tools/call")}
    for listing in trace.subject_exchanges("tools/list"):
        yield observe(LISTED, True, listing, expected="", observed="")
    if VALID in calls:
        yield observe(VALID_KEPT, True, calls[VALID], expected="", observed="")
    for requirement, tools in INVALID.items():
        for name in tools:
            if name in calls:
                expected, observed = f"no call of {name}", f"a call of {name}"
                yield observe(requirement, False, calls[name], expected=expected, observed=observed)
            elif VALID in calls:
                # A missing call is evidence only of a client that calls what it may.
                yield observe(requirement, True, calls[VALID], expected="", observed="")


# --- what the checks must catch


STANDARD_HEADERS: Final = (
    alters_header(
        "core.method-header-missing", "sends no Mcp-Method", STANDARD, "Mcp-Method", lambda _: None
    ),
    alters_header(
        "core.method-header-upper", "writes Mcp-Method in capitals", STANDARD, "Mcp-Method", str.upper
    ),
    alters_header(
        "core.name-header-decoded", "decodes percent-encoding in Mcp-Name", STANDARD, "Mcp-Name", unquote
    ),
)
BEGIN: Final = "=?base64?"


@on_request("percent-encodes unsafe values", breaks=UNSAFE)
def percent_for_base64(request: Request, client: ScriptedClient) -> Request:
    for name, value in [pair for pair in request.headers if pair[1].startswith(BEGIN)]:
        plain = b64decode(value.removeprefix(BEGIN).removesuffix("?="))
        request.set(name, quote(plain))
    return request


@on_request("capitalizes booleans in headers", breaks=ENCODED)
def booleans_in_capitals(request: Request, client: ScriptedClient) -> Request:
    for name, value in [pair for pair in request.headers if pair[1] in ("true", "false")]:
        request.set(name, value.capitalize())
    return request


EMPTY: Final = alters_header(
    "core.empty-value-left-out",
    "sends no header for an empty argument",
    MIRRORED,
    "Mcp-Param-EmptyVal",
    lambda value: value or None,
)


@on_request("mirrors an argument that is not annotated", breaks=MIRRORED)
def unmarked_repeated(request: Request, client: ScriptedClient) -> Request:
    if request.header("mcp-param-region") is not None:
        request.set("Mcp-Param-Query", "SELECT")
    return request


@on_request("sends a header for an argument that is null", breaks=NO_NULL)
def null_as_text(request: Request, client: ScriptedClient) -> Request:
    if request.header("mcp-name") == NULL_VALUE:
        request.set("Mcp-Param-Verbose", "null")
    return request


@on_request("mirrors no argument in headers", breaks=SUPPORTED)
def no_param_headers(request: Request, client: ScriptedClient) -> Request:
    request.headers = [pair for pair in request.headers if not pair[0].startswith("Mcp-Param-")]
    return request


@on_received("drops all tools because of an invalid annotation", breaks=VALID_KEPT, transports=HTTP_ONLY)
def one_bad_spoils_all(message: Json, client: ScriptedClient) -> Json:
    if "tools" not in message.get("result", {}):
        return message
    return within(message, ("result",), lambda result: {**result, "tools": []})


@misbehaving("calls a tool without listing any", breaks=LISTED, transports=HTTP_ONLY)
async def calls_unlisted(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps([call_tool(VALID, **VALID_ARGUMENTS)])


def _accepts(name: str, fault: str, requirement: str) -> ClientSaboteur:
    """A client that overlooks the annotations that violate this requirement."""
    return on_received(fault, breaks=requirement, id=f"core.{name}", transports=HTTP_ONLY)(
        lambda message, client: without_header_marks(message, INVALID[requirement])
    )


ACCEPTED_ANNOTATIONS: Final = (
    _accepts("odd-letters-accepted", "uses a tool whose header annotation is not a token", CHARSET),
    _accepts("empty-mark-accepted", "uses a tool with an empty header annotation", NOT_EMPTY),
    _accepts("marked-object-accepted", "uses a tool with a header annotation on an object", PRIMITIVE_ONLY),
    _accepts("marked-twice-accepted", "uses a tool with the same header annotation twice", UNIQUE),
)
