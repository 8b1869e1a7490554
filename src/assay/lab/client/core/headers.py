"""Standard and custom headers, and tools whose header annotations are invalid."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote, unquote

from assay.lab.client.altered_message import within, without_header_marks
from assay.lab.client.declaration import official_scenario
from assay.lab.client.evidence import HANDSHAKE_METHODS, fail_unobserved
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Request, Trace, observe
from assay.lab.harness.driver.mirrored_header import as_header
from assay.lab.harness.sabotage.client_saboteur import misbehaving, on_hearing, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call_tool, step
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call, Exchange
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import VERSION, Mirror, as_text, asked, param_mirrors, standard_mirrors

VALID: Final = "valid_tool"
ARGUMENTS: Final = {"region": "us-west1"}
KEY: Final = "x-mcp-header"
Marked = dict[str, tuple[str, str]]


# By rule and tool: type and header of each parameter.
FAULTS: Final[dict[str, dict[str, Marked]]] = {
    "sep-2243-x-mcp-header-not-empty": {"invalid_empty_header": {"value": ("string", "")}},
    "sep-2243-x-mcp-header-primitive-only": {
        "invalid_object_header": {"data": ("object", "Data")},
        "invalid_array_header": {"items": ("array", "Items")},
        "invalid_null_header": {"nil": ("null", "Nil")},
        "invalid_number_header": {"score": ("number", "Score")},
    },
    "sep-2243-x-mcp-header-unique": {
        "invalid_duplicate_same_case": {"field1": ("string", "Region"), "field2": ("string", "Region")},
        "invalid_duplicate_diff_case": {"field1": ("string", "MyField"), "field2": ("string", "myfield")},
    },
    "sep-2243-x-mcp-header-charset": {
        "invalid_space_in_name": {"value": ("string", "My Region")},
        "invalid_colon_in_name": {"value": ("string", "Region:Primary")},
        "invalid_non_ascii_name": {"value": ("string", "Région")},
        "invalid_control_char_name": {"value": ("string", "Region\t1")},
    },
}
PLAUSIBLE: Final[dict[str, Any]] = {
    "string": "text",
    "object": {},
    "array": ["text"],
    "null": None,
    "number": 1.5,
}


def definition(name: str, marked: Marked) -> dict[str, Any]:
    properties = {key: {"type": kind, KEY: header} for key, (kind, header) in marked.items()}
    schema = {"type": "object", "properties": properties, "required": list(marked)}
    return {"name": name, "inputSchema": schema}


INVALID: Final = {name: marked for tools in FAULTS.values() for name, marked in tools.items()}
DEFINITIONS: Final = [
    definition(VALID, {"region": ("string", "Region")}),
    *(definition(name, marked) for name, marked in INVALID.items()),
]
CALLS: Final[dict[str, dict[str, Any]]] = {
    VALID: ARGUMENTS,
    **{
        name: {parameter: PLAUSIBLE[kind] for parameter, (kind, _) in marked.items()}
        for name, marked in INVALID.items()
    },
}
MANY: Final = "test_custom_headers"
FEW: Final = "test_custom_headers_null"


# By parameter: its type, its header if it has one, and the value in the call.
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
NULLED: Final = {"region": "us-east1", "priority": 1, "verbose": None, "query": "SELECT 1"}


def _property(name: str) -> dict[str, Any]:
    kind, header, _ = PARAMETERS[name]
    return {"type": kind} | ({} if header is None else {"x-mcp-header": header})


def _tool(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    properties = {parameter: _property(parameter) for parameter in parameters}
    required = ["region", "priority", "query"]
    return {"name": name, "inputSchema": {"type": "object", "properties": properties, "required": required}}


MARKED_TOOLS_CALLS: Final = {MANY: {name: value for name, (_, _, value) in PARAMETERS.items()}, FEW: NULLED}
TOOLS: Final = {name: _tool(name, arguments) for name, arguments in MARKED_TOOLS_CALLS.items()}


# --- what is asked


HTTP_STANDARD_HEADERS_TOOLS = ("test_headers", "my-hyphenated-tool")
URIS = ("file:///path/to/file%20name.txt", "https://example.com/resource?id=123")
PROMPT = "test_prompt"


@official_scenario(
    "http-standard-headers",
    "Requests of every kind repeat method and name in their headers",
    brief=Brief(
        steps=(
            LIST_TOOLS,
            *(call_tool(name) for name in HTTP_STANDARD_HEADERS_TOOLS),
            step("list_resources"),
            *(step("read_resource", uri=uri) for uri in URIS),
            step("list_prompts"),
            step("get_prompt", name=PROMPT, arguments={}),
        ),
        path="",
    ),
)
async def drive_http_standard_headers(stage: ClientStage) -> None:
    for name in HTTP_STANDARD_HEADERS_TOOLS:
        stage.host.add_tool({"name": name, "inputSchema": {"type": "object", "properties": {}}})
    for uri in URIS:
        stage.host.add_resource(uri)
    stage.host.add_prompt(PROMPT, description="A simple prompt")


@official_scenario(
    "http-custom-headers",
    "Arguments that a tool wants in headers are repeated there",
    brief=Brief(steps=(LIST_TOOLS, step("context_calls")), path=""),
)
async def drive_http_custom_headers(stage: ClientStage) -> None:
    for tool in TOOLS.values():
        stage.host.add_tool(tool)
    calls = [{"name": name, "arguments": arguments} for name, arguments in MARKED_TOOLS_CALLS.items()]
    stage.context = {**stage.context, "toolCalls": calls}


@official_scenario(
    "http-invalid-tool-headers",
    "Tools with marks that no client may accept are left out, the others are not",
    brief=Brief(steps=(LIST_TOOLS, step("call_listed", arguments=CALLS)), path="", may_fail=True),
)
async def drive_http_invalid_tool_headers(stage: ClientStage) -> None:
    for tool in DEFINITIONS:
        stage.host.add_tool(tool)


# --- how it is judged


ROW = "sep-2243-client-includes-standard-headers"


@official_check(
    "http-standard-headers", "Headers repeat method and name", requirements=(ROW,), transports=HTTP_ONLY
)
def judge_http_standard_headers(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if any(one.method in HANDSHAKE_METHODS for one in call.asked):
            continue
        for mirror in standard_mirrors(call, trace.revision):
            if mirror.header == VERSION:
                continue
            told = f"{mirror.header} {mirror.given!r}" if mirror.given is not None else f"no {mirror.header}"
            yield observe(
                ROW, mirror.flaw is None, call, expected=f"{mirror.header}: {mirror.told}", observed=told
            )


SUPPORTED = "sep-2243-client-supports-custom-headers"
MIRRORED = "sep-2243-client-mirrors-designated-params"
ENCODED = "sep-2243-client-encode-values"
UNSAFE = "sep-2243-client-base64-unsafe"
NO_NULL = "sep-2243-client-omit-null"
PREFIX = "mcp-param-"
NUMBER = re.compile(r"-?\d{1,300}(\.\d{1,300})?", re.ASCII)
OWED = dict.fromkeys((SUPPORTED, MIRRORED, ENCODED, UNSAFE), f"a call of {MANY} with its arguments") | {
    NO_NULL: f"a call of {FEW}"
}


@official_check(
    "http-custom-headers", "Marked arguments are repeated", requirements=tuple(OWED), transports=HTTP_ONLY
)
def judge_http_custom_headers(trace: Trace) -> Iterator[Observation]:
    yield from fail_unobserved(trace, _seen(trace), OWED)


def _seen(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        name = _http_custom_headers_tool(call)
        if name in TOOLS:
            yield from _judged(call, name, [mirror for _, mirror in param_mirrors(call, TOOLS)])


def _http_custom_headers_tool(call: Call) -> Any:
    message = asked(call)
    name = message.params.get("name") if message and message.method == "tools/call" else None
    return name if isinstance(name, str) else None


def _judged(call: Call, name: str, mirrors: list[Mirror]) -> Iterator[Observation]:
    headers = [key for key, _ in call.sent.headers if key.lower().startswith(PREFIX)]
    if name == MANY:
        told = ", ".join(headers) or "none"
        yield observe(SUPPORTED, bool(headers), call, expected="headers Mcp-Param-*", observed=told)
    marked = {mirror.header.lower() for mirror in mirrors}
    strays = [key for key in headers if key.lower() not in marked]
    expected = "headers of marked parameters only"
    yield observe(MIRRORED, not strays, call, expected=expected, observed=", ".join(strays))
    for mirror in mirrors:
        if mirror.told is not None:
            yield _repeated(call, mirror)
        else:
            told = f"{mirror.header} {mirror.given!r}"
            expected = f"no {mirror.header}"
            yield observe(NO_NULL, mirror.given is None, call, expected=expected, observed=told)


def _repeated(call: Call, mirror: Mirror) -> Observation:
    text = as_text(mirror.told)
    unsafe = as_header(text) != text
    row = UNSAFE if unsafe else MIRRORED if isinstance(mirror.told, str) else ENCODED
    holds = _says(mirror) and (mirror.is_encoded or not unsafe)
    told = f"{mirror.header}: {mirror.given!r}" if mirror.given is not None else "no such header"
    return observe(row, holds, call, expected=f"{mirror.header}: {as_header(text)}", observed=told)


def _says(mirror: Mirror) -> bool:
    """Whether it says the same as the body; numbers are compared as such."""
    if mirror.flaw is None:
        return True
    if isinstance(mirror.told, bool) or not isinstance(mirror.told, int | float):
        return False
    return NUMBER.fullmatch(mirror.read() or "") is not None and float(mirror.read() or "") == mirror.told


LISTED = "sep-2243-invalid-tool-tools-list-gate"
KEPT = "sep-2243-client-reject-invalid-tool"
HTTP_INVALID_TOOL_HEADERS_OWED = {LISTED: "a request tools/list", KEPT: f"a call of {VALID}"}


@official_check(
    "http-invalid-tool-headers",
    "Tools with marks that no client may accept are left out",
    requirements=(LISTED, KEPT, *FAULTS),
    transports=HTTP_ONLY,
)
def judge_http_invalid_tool_headers(trace: Trace) -> Iterator[Observation]:
    yield from fail_unobserved(trace, _http_invalid_tool_headers_seen(trace), HTTP_INVALID_TOOL_HEADERS_OWED)


def _http_invalid_tool_headers_seen(trace: Trace) -> Iterator[Observation]:
    calls = {str(one.params.get("name")): one for one in trace.inquiries("tools/call")}
    for listing in trace.inquiries("tools/list"):
        yield observe(LISTED, True, listing, expected="", observed="")
    if VALID in calls:
        yield observe(KEPT, True, calls[VALID], expected="", observed="")
    for row, tools in FAULTS.items():
        for name in tools:
            yield from _left_out(row, name, calls)


def _left_out(row: str, name: str, calls: dict[str, Exchange]) -> Iterator[Observation]:
    """That it was not called shows something only in a client that did call what it might."""
    if name in calls:
        told = f"a call of {name}"
        yield observe(row, False, calls[name], expected=f"no call of {name}", observed=told)
    elif VALID in calls:
        yield observe(row, True, calls[VALID], expected="", observed="")


# --- what the checks must catch


@on_request("requests have no Mcp-Method", breaks="sep-2243-client-includes-standard-headers")
def method_header_missing(request: Request, client: ScriptedClient) -> Request:
    request.set("Mcp-Method", None)
    return request


@on_request("Mcp-Method is in capitals", breaks="sep-2243-client-includes-standard-headers")
def method_header_upper(request: Request, client: ScriptedClient) -> Request:
    if (method := request.header("mcp-method")) is not None:
        request.set("Mcp-Method", method.upper())
    return request


@on_request("Mcp-Name has percent signs decoded", breaks="sep-2243-client-includes-standard-headers")
def name_header_decoded(request: Request, client: ScriptedClient) -> Request:
    if (name := request.header("mcp-name")) is not None:
        request.set("Mcp-Name", unquote(name))
    return request


BEGIN = "=?base64?"


@on_request("unsafe values are percent-encoded", breaks="sep-2243-client-base64-unsafe")
def percent_for_base64(request: Request, client: ScriptedClient) -> Request:
    for name, value in [pair for pair in request.headers if pair[1].startswith(BEGIN)]:
        plain = b64decode(value.removeprefix(BEGIN).removesuffix("?="))
        request.set(name, quote(plain))
    return request


@on_request("booleans are written with a capital", breaks="sep-2243-client-encode-values")
def booleans_in_capitals(request: Request, client: ScriptedClient) -> Request:
    for name, value in [pair for pair in request.headers if pair[1] in ("true", "false")]:
        request.set(name, value.capitalize())
    return request


@on_request("an empty argument has no header", breaks="sep-2243-client-mirrors-designated-params")
def empty_value_left_out(request: Request, client: ScriptedClient) -> Request:
    request.set("Mcp-Param-EmptyVal", request.header("mcp-param-emptyval") or None)
    return request


@on_request(
    "an argument that is not marked is repeated, too", breaks="sep-2243-client-mirrors-designated-params"
)
def unmarked_repeated(request: Request, client: ScriptedClient) -> Request:
    if request.header("mcp-param-region") is not None:
        request.set("Mcp-Param-Query", "SELECT")
    return request


@on_request("an argument that is null has a header", breaks="sep-2243-client-omit-null")
def null_as_text(request: Request, client: ScriptedClient) -> Request:
    if request.header("mcp-name") == FEW:
        request.set("Mcp-Param-Verbose", "null")
    return request


@on_request("no argument is repeated in headers", breaks="sep-2243-client-supports-custom-headers")
def no_param_headers(request: Request, client: ScriptedClient) -> Request:
    request.headers = [pair for pair in request.headers if not pair[0].startswith("Mcp-Param-")]
    return request


@on_hearing(
    "a tool with a bad mark takes all others with it",
    breaks="sep-2243-client-reject-invalid-tool",
    transports=HTTP_ONLY,
)
def one_bad_spoils_all(message: Json, client: ScriptedClient) -> Json:
    if "tools" not in message.get("result", {}):
        return message
    return within(message, ("result",), lambda result: {**result, "tools": []})


@misbehaving(
    "tools are called that were never listed",
    breaks="sep-2243-invalid-tool-tools-list-gate",
    transports=HTTP_ONLY,
)
async def calls_unlisted(client: ScriptedClient) -> None:
    await client.open()
    await client.play([call_tool(VALID, **ARGUMENTS)])


@on_hearing(
    "a tool with a mark that is no token is used",
    breaks="sep-2243-x-mcp-header-charset",
    transports=HTTP_ONLY,
)
def odd_letters_accepted(message: Json, client: ScriptedClient) -> Json:
    return without_header_marks(message, FAULTS["sep-2243-x-mcp-header-charset"])


@on_hearing(
    "a tool with an empty mark is used", breaks="sep-2243-x-mcp-header-not-empty", transports=HTTP_ONLY
)
def empty_mark_accepted(message: Json, client: ScriptedClient) -> Json:
    return without_header_marks(message, FAULTS["sep-2243-x-mcp-header-not-empty"])


@on_hearing(
    "a tool with a mark on an object is used",
    breaks="sep-2243-x-mcp-header-primitive-only",
    transports=HTTP_ONLY,
)
def marked_object_accepted(message: Json, client: ScriptedClient) -> Json:
    return without_header_marks(message, FAULTS["sep-2243-x-mcp-header-primitive-only"])


@on_hearing(
    "a tool with the same mark twice is used", breaks="sep-2243-x-mcp-header-unique", transports=HTTP_ONLY
)
def marked_twice_accepted(message: Json, client: ScriptedClient) -> Json:
    return without_header_marks(message, FAULTS["sep-2243-x-mcp-header-unique"])
