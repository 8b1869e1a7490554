"""Standard and custom HTTP headers are validated against the body."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Response,
    Stage,
    Trace,
    observe,
    on_call,
    on_reply,
    on_response,
)
from assay.lab.harness.driver.argument import arguments_for, value_for
from assay.lab.harness.links.http_text import HEAD_END
from assay.lab.harness.need import A_TOOL, Need
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import (
    METHOD,
    NAME,
    Annotation,
    Mirror,
    param_mirrors,
    request_of,
    standard_mirrors,
    usable,
)
from assay.model.error import HEADER_MISMATCH, INVALID_REQUEST

from .declaration import official_check, official_scenario

BAD_REQUEST = 400


def is_served(call: Call) -> bool:
    """It was answered with a result."""
    answered = any("result" in one.fields for one in call.messages)
    return call.status < BAD_REQUEST and answered


def identity(call: Call) -> str:
    """What two calls have in common that differ in their headers."""
    message = request_of(call)
    params = {} if message is None else message.params
    return json.dumps([message.method if message else "", params.get("name")])


def served(row: str, call: Call, why: str) -> Observation:
    return observe(row, is_served(call), call, expected=f"a result: {why}", observed=_said(call))


def refused(status_row: str, code_row: str, call: Call, why: str) -> Iterator[Observation]:
    """A refusal because of headers: its status and its code."""
    status, code = call.status == BAD_REQUEST, call.code == HEADER_MISMATCH
    expected = f"status {BAD_REQUEST}: {why}"
    yield observe(status_row, status, call, expected=expected, observed=_said(call))
    expected = f"error {HEADER_MISMATCH}: {why}"
    yield observe(code_row, code, call, expected=expected, observed=_said(call))


def _said(call: Call) -> str:
    message = next(iter(call.messages), None)
    return f"status {call.status}, {message or 'no message'}"


# --- what is asked


LIST = "tools/list"


@official_scenario(
    "http-header-validation", "Standard headers must repeat the body", needs=(A_TOOL,), transports=HTTP_ONLY
)
async def drive_http_header_validation(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(LIST)
    for spelled in (METHOD.lower(), METHOD.upper()):
        await peer.request(LIST, headers={METHOD: None, spelled: LIST})
    for given in ("prompts/list", None, LIST.upper()):
        await peer.request(LIST, headers={METHOD: given})
    tool = harmless(stage.facts)
    arguments = arguments_for(tool)
    await peer.call(tool, arguments)
    for name in (f"  {tool['name']}  ", "wrong_tool_name", None):
        await peer.call(tool, arguments, headers={NAME: name})


def harmless(facts: Facts) -> dict[str, Any]:
    """The simplest fixture, else a tool that only reads, else the first."""
    simple = [tool for tool in facts.tools if tool.get("name") == "test_simple_text"]
    return (simple or facts.read_only_tools or facts.tools)[0]


GIVEN: Final = (
    ("Hello", "Hello"),
    ("Hello", "=?base64?SGVsbG8=?="),
    ("SGVsbG8=", "SGVsbG8="),
    ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
    ("Hello", "=?base64?SGVsbG8?="),
    ("Hello", "=?base64?SGVs!!!bG8=?="),
    ("Hello", "=?base64?SGVsbG9v?="),
    ("Hello", "of-another-kind"),
    ("test-value", None),
)
"""The argument of each call, and what its header says."""


def marked_text(tool: dict[str, Any]) -> list[Annotation]:
    return [one for one in usable(tool) if "string" in one.types]


A_TEXT_IN_A_HEADER: Final = Need(
    lambda facts: any(marked_text(tool) for tool in facts.tools),
    "has no tool with a text that is repeated in a header",
)


@official_scenario(
    "http-custom-header-server-validation",
    "Headers of parameters must repeat the arguments",
    needs=(A_TEXT_IN_A_HEADER,),
    transports=HTTP_ONLY,
)
async def drive_http_custom_header_server_validation(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    tool, marked = _chosen(stage.facts)
    others = {one.path[0]: value_for(one.schema) for one in usable(tool)}
    for argument, given in GIVEN:
        arguments = {**arguments_for(tool), **others, marked.path[0]: argument}
        await peer.call(tool, arguments, headers={marked.header: given})


def _chosen(facts: Facts) -> tuple[dict[str, Any], Annotation]:
    return next((tool, marked) for tool in facts.tools for marked in marked_text(tool))


# --- how it is judged


PROBED: Final = ("tools/list", "tools/call")
SETUP: Final = "sep-2243-server-standard-setup"
STATUS: Final = "sep-2243-server-reject-invalid-headers"
CODE: Final = "sep-2243-server-reject-error-code"
SPACES: Final = "sep-2243-server-accepts-whitespace-header-value"
LETTERS: Final = "sep-2243-header-name-case-insensitive"


@official_check(
    "http-header-validation",
    "Standard headers must repeat the body",
    requirements=(SETUP, STATUS, CODE, SPACES, LETTERS),
    transports=HTTP_ONLY,
)
def judge_http_header_validation(trace: Trace) -> Iterator[Observation]:
    calls = [one for one in trace.calls if any(asked.method in PROBED for asked in one.request_messages)]
    mirrored = [(call, standard_mirrors(call, trace.revision)) for call in calls]
    working: set[str] = set()
    for call, mirrors in mirrored:
        flawed = [one for one in mirrors if one.flaw is not None]
        if mirrors and not flawed:
            yield from _taken(call, mirrors)
            working |= {identity(call)} if is_served(call) else set()
        elif len(flawed) == 1 and identity(call) in working:
            flaw = flawed[0].flaw
            why = f"{flawed[0].header} is {flaw.value if flaw else ''}"
            yield from refused(STATUS, CODE, call, why)


def _taken(call: Call, mirrors: list[Mirror]) -> Iterator[Observation]:
    odd = [one.spelled for one in mirrors if one.spelled != one.header]
    if odd:
        yield served(LETTERS, call, f"{odd[0]} is the name of a header in other letters")
    elif spaced := [one.header for one in mirrors if _has_spaces(call, one)]:
        yield served(SPACES, call, f"spaces around the value of {spaced[0]} are no part of it")
    else:
        yield served(SETUP, call, "its headers repeat the body")


def _has_spaces(call: Call, mirror: Mirror) -> bool:
    head = call.request.raw.partition(HEAD_END)[0].lower()
    return f"\r\n{mirror.header.lower()}:   ".encode() in head


DECODED: Final = "sep-2243-server-decode-base64"
HTTP_CUSTOM_HEADER_SERVER_VALIDATION_STATUS: Final = "sep-2243-server-reject-invalid-param-chars"
HTTP_CUSTOM_HEADER_SERVER_VALIDATION_CODE: Final = "sep-2243-server-reject-param-mismatch"
LITERAL: Final = "sep-2243-server-validate-param-match"


@official_check(
    "http-custom-header-server-validation",
    "Headers of parameters must repeat the arguments",
    requirements=(
        DECODED,
        HTTP_CUSTOM_HEADER_SERVER_VALIDATION_STATUS,
        HTTP_CUSTOM_HEADER_SERVER_VALIDATION_CODE,
        LITERAL,
    ),
    transports=HTTP_ONLY,
)
def judge_http_custom_header_server_validation(trace: Trace) -> Iterator[Observation]:
    lists = trace.exchanges("tools/list")
    tools = {str(tool.get("name")): tool for one in lists for tool in one.objects("tools")}
    working: set[str] = set()
    for call in trace.calls:
        mirrors = [mirror for mirror in param_mirrors(call, tools) if mirror.value is not None]
        flawed = [one for one in mirrors if one.flaw is not None]
        if mirrors and not flawed:
            encoded = any(one.is_encoded for one in mirrors)
            yield served(DECODED if encoded else LITERAL, call, _told(mirrors))
            working |= {identity(call)} if is_served(call) else set()
        elif flawed and identity(call) in working:
            yield from refused(
                HTTP_CUSTOM_HEADER_SERVER_VALIDATION_STATUS,
                HTTP_CUSTOM_HEADER_SERVER_VALIDATION_CODE,
                call,
                _told(flawed),
            )


def _told(mirrors: list[Mirror]) -> str:
    return "; ".join(f"{one.header} is {one.sent!r} for the argument {one.value!r}" for one in mirrors)


# --- what the checks must catch


@on_call("a header whose name is in capitals is not found", breaks="sep-2243-header-name-case-insensitive")
def capitals_unknown(request: Request, context: FaultContext) -> None:
    request.headers = [(name, value) for name, value in request.headers if name != "MCP-METHOD"]


REFUSED = b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32020,"message":"Mcp-Name differs"}}'


@on_call("spaces around Mcp-Name are a part of it", breaks="sep-2243-server-accepts-whitespace-header-value")
def spaces_belong(request: Request, context: FaultContext) -> Response | None:
    # Whoever reads the head has dropped the spaces: the second call of a tool is the one that had some.
    calls = context.memory["calls"] = context.memory.get("calls", 0) + (context.method == "tools/call")
    if context.method != "tools/call" or calls != 2 or context.request is None:
        return None
    return Response([("Content-Type", "application/json")], 400, REFUSED % context.request["id"])


@on_reply(
    "a header that differs gets -32600", breaks="sep-2243-server-reject-error-code", transports=HTTP_ONLY
)
def mismatch_is_invalid_request(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == HEADER_MISMATCH:
        reply["error"]["code"] = INVALID_REQUEST
    return reply


@on_call("Mcp-Method is compared without regard to case", breaks="sep-2243-server-reject-invalid-headers")
def method_by_lower(request: Request, context: FaultContext) -> None:
    if (request.header("mcp-method") or "").lower() == context.method.lower():
        request.set("Mcp-Method", context.method)


@on_call("Mcp-Method may say anything", breaks="sep-2243-server-reject-invalid-headers")
def method_not_read(request: Request, context: FaultContext) -> None:
    if request.header("mcp-method") is not None:
        request.set("Mcp-Method", context.method)


@on_call("Mcp-Name may be missing", breaks="sep-2243-server-reject-invalid-headers")
def name_not_needed(request: Request, context: FaultContext) -> None:
    if context.method == "tools/call" and request.header("mcp-name") is None:
        request.set("Mcp-Name", context.params["name"])


@on_response("a header that differs gets status 200", breaks="sep-2243-server-reject-invalid-headers")
def refusal_is_ok(response: Response, context: FaultContext) -> None:
    response.status = 200 if response.status == 400 else response.status


@on_call("a right Mcp-Name is refused", breaks="sep-2243-server-standard-setup")
def right_headers_refused(request: Request, context: FaultContext) -> None:
    if request.header("mcp-name") == context.params.get("name"):
        request.set("Mcp-Name", "of-another-kind")


@on_call("the header of a parameter is never decoded", breaks="sep-2243-server-decode-base64")
def param_never_decoded(request: Request, context: FaultContext) -> None:
    if (given := request.header("mcp-param-region") or "").endswith("?="):
        request.set("Mcp-Param-Region", f"literally {given}")


@on_call("Base64 without padding is decoded", breaks="sep-2243-server-reject-invalid-param-chars")
def param_decoded_leniently(request: Request, context: FaultContext) -> None:
    if request.header("mcp-param-region") == "=?base64?SGVsbG8?=":
        request.set("Mcp-Param-Region", "=?base64?SGVsbG8=?=")


@on_call("the header of a parameter may be missing", breaks="sep-2243-server-reject-invalid-param-chars")
def param_not_needed(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    if request.header("mcp-param-region") is None and "region" in arguments:
        request.set("Mcp-Param-Region", arguments["region"])


@on_call("the header of a parameter may say anything", breaks="sep-2243-server-reject-param-mismatch")
def param_not_compared(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    if request.header("mcp-param-region") == "of-another-kind" and "region" in arguments:
        request.set("Mcp-Param-Region", arguments["region"])


@on_call("what looks like Base64 is decoded, marked or not", breaks="sep-2243-server-validate-param-match")
def param_decoded_always(request: Request, context: FaultContext) -> None:
    if request.header("mcp-param-region") == "SGVsbG8=":
        request.set("Mcp-Param-Region", "Hello")
