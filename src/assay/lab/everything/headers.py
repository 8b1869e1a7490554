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
    """Whether it was answered with a result."""
    return call.status < BAD_REQUEST and any("result" in message.fields for message in call.messages)


def identity(call: Call) -> str:
    """Equal for two calls that differ only in their headers."""
    message = request_of(call)
    params = {} if message is None else message.params
    return json.dumps([message.method if message else "", params.get("name")])


def served(requirement: str, call: Call, why: str) -> Observation:
    return observe(requirement, is_served(call), call, expected=f"a result: {why}", observed=_reply(call))


def refused(status: str, code: str, call: Call, why: str) -> Iterator[Observation]:
    """A refusal because of headers: the requirements for its status and its code."""
    for requirement, holds, expected in (
        (status, call.status == BAD_REQUEST, f"status {BAD_REQUEST}"),
        (code, call.code == HEADER_MISMATCH, f"error {HEADER_MISMATCH}"),
    ):
        yield observe(requirement, holds, call, expected=f"{expected}: {why}", observed=_reply(call))


def _reply(call: Call) -> str:
    message = next(iter(call.messages), None)
    return f"status {call.status}, {message or 'no message'}"


# --- what is asked


LIST = "tools/list"


@official_scenario(
    "http-header-validation",
    "Send standard headers that do not match the body",
    needs=(A_TOOL,),
    transports=HTTP_ONLY,
)
async def drive_http_header_validation(stage: Stage) -> None:
    peer = await stage.open()
    await peer.request(LIST)
    for spelled in (METHOD.lower(), METHOD.upper()):
        await peer.request(LIST, headers={METHOD: None, spelled: LIST})
    for method in ("prompts/list", None, LIST.upper()):
        await peer.request(LIST, headers={METHOD: method})
    tool = harmless(stage.facts)
    arguments = arguments_for(tool)
    await peer.call(tool, arguments)
    for name in (f"  {tool['name']}  ", "wrong_tool_name", None):
        await peer.call(tool, arguments, headers={NAME: name})


def harmless(facts: Facts) -> dict[str, Any]:
    """The simplest fixture, else a read-only tool, else the first tool."""
    simple = [tool for tool in facts.tools if tool.get("name") == "test_simple_text"]
    return (simple or facts.read_only_tools or facts.tools)[0]


HEADER_CASES: Final = (
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
"""The argument and the header of each call."""


def marked_text(tool: dict[str, Any]) -> list[Annotation]:
    return [annotation for annotation in usable(tool) if "string" in annotation.types]


A_TEXT_IN_A_HEADER: Final = Need(
    lambda facts: any(marked_text(tool) for tool in facts.tools),
    "has no tool with a text argument in a header",
)


@official_scenario(
    "http-custom-header-server-validation",
    "Send parameter headers that do not match the arguments",
    needs=(A_TEXT_IN_A_HEADER,),
    transports=HTTP_ONLY,
)
async def drive_http_custom_header_server_validation(stage: Stage) -> None:
    peer = await stage.open()
    await peer.pages("tools/list", "tools")
    tool, marked = _chosen(stage.facts)
    others = {annotation.path[0]: value_for(annotation.schema) for annotation in usable(tool)}
    for argument, header in HEADER_CASES:
        arguments = {**arguments_for(tool), **others, marked.path[0]: argument}
        await peer.call(tool, arguments, headers={marked.header: header})


def _chosen(facts: Facts) -> tuple[dict[str, Any], Annotation]:
    return next((tool, marked) for tool in facts.tools for marked in marked_text(tool))


# --- how it is judged


PROBED: Final = ("tools/list", "tools/call")
MATCHING: Final = "sep-2243-server-standard-setup"
STATUS: Final = "sep-2243-server-reject-invalid-headers"
CODE: Final = "sep-2243-server-reject-error-code"
WITH_SPACES: Final = "sep-2243-server-accepts-whitespace-header-value"
LETTER_CASE: Final = "sep-2243-header-name-case-insensitive"


@official_check(
    "http-header-validation",
    "Standard headers match the body",
    requirements=(MATCHING, STATUS, CODE, WITH_SPACES, LETTER_CASE),
    transports=HTTP_ONLY,
)
def judge_http_header_validation(trace: Trace) -> Iterator[Observation]:
    calls = [call for call in trace.calls if any(sent.method in PROBED for sent in call.request_messages)]
    mirrored = [(call, standard_mirrors(call, trace.revision)) for call in calls]
    working: set[str] = set()
    for call, mirrors in mirrored:
        flawed = [mirror for mirror in mirrors if mirror.flaw is not None]
        if mirrors and not flawed:
            yield from _judge_matching(call, mirrors)
            working |= {identity(call)} if is_served(call) else set()
        elif len(flawed) == 1 and identity(call) in working:
            flaw = flawed[0].flaw
            why = f"{flawed[0].header} is {flaw.value if flaw else ''}"
            yield from refused(STATUS, CODE, call, why)


def _judge_matching(call: Call, mirrors: list[Mirror]) -> Iterator[Observation]:
    odd = [mirror.spelled for mirror in mirrors if mirror.spelled != mirror.header]
    if odd:
        yield served(LETTER_CASE, call, f"{odd[0]} is the name of a header in other letters")
    elif spaced := [mirror.header for mirror in mirrors if _has_spaces(call, mirror)]:
        yield served(WITH_SPACES, call, f"spaces around the value of {spaced[0]} are not part of it")
    else:
        yield served(MATCHING, call, "its headers repeat the body")


def _has_spaces(call: Call, mirror: Mirror) -> bool:
    head = call.request.raw.partition(HEAD_END)[0].lower()
    return f"\r\n{mirror.header.lower()}:   ".encode() in head


DECODED: Final = "sep-2243-server-decode-base64"
PARAM_STATUS: Final = "sep-2243-server-reject-invalid-param-chars"
PARAM_CODE: Final = "sep-2243-server-reject-param-mismatch"
LITERAL: Final = "sep-2243-server-validate-param-match"


@official_check(
    "http-custom-header-server-validation",
    "Headers of parameters match the arguments",
    requirements=(DECODED, PARAM_STATUS, PARAM_CODE, LITERAL),
    transports=HTTP_ONLY,
)
def judge_http_custom_header_server_validation(trace: Trace) -> Iterator[Observation]:
    lists = trace.exchanges("tools/list")
    tools = {str(tool.get("name")): tool for page in lists for tool in page.objects("tools")}
    working: set[str] = set()
    for call in trace.calls:
        mirrors = [mirror for mirror in param_mirrors(call, tools) if mirror.value is not None]
        flawed = [mirror for mirror in mirrors if mirror.flaw is not None]
        if mirrors and not flawed:
            encoded = any(mirror.is_encoded for mirror in mirrors)
            yield served(DECODED if encoded else LITERAL, call, _mirrored(mirrors))
            working |= {identity(call)} if is_served(call) else set()
        elif flawed and identity(call) in working:
            yield from refused(PARAM_STATUS, PARAM_CODE, call, _mirrored(flawed))


def _mirrored(mirrors: list[Mirror]) -> str:
    pairs = (f"{mirror.header} is {mirror.sent!r} for the argument {mirror.value!r}" for mirror in mirrors)
    return "; ".join(pairs)


# --- what the checks must catch


@on_call("ignores headers with upper-case names", breaks="sep-2243-header-name-case-insensitive")
def capitals_unknown(request: Request, context: FaultContext) -> None:
    request.headers = [(name, value) for name, value in request.headers if name != "MCP-METHOD"]


REFUSED = b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32020,"message":"Mcp-Name differs"}}'


@on_call("compares Mcp-Name with spaces around it", breaks="sep-2243-server-accepts-whitespace-header-value")
def spaces_belong(request: Request, context: FaultContext) -> Response | None:
    # The parser has dropped the spaces; the second call of a tool is the one that has them.
    calls = context.memory["calls"] = context.memory.get("calls", 0) + (context.method == "tools/call")
    if context.method != "tools/call" or calls != 2 or context.request is None:
        return None
    return Response([("Content-Type", "application/json")], 400, REFUSED % context.request["id"])


@on_reply(
    "answers a wrong header with -32600", breaks="sep-2243-server-reject-error-code", transports=HTTP_ONLY
)
def mismatch_is_invalid_request(reply: Json, context: FaultContext) -> Json:
    if reply.get("error", {}).get("code") == HEADER_MISMATCH:
        reply["error"]["code"] = INVALID_REQUEST
    return reply


@on_call("ignores the letter case of Mcp-Method", breaks="sep-2243-server-reject-invalid-headers")
def method_by_lower(request: Request, context: FaultContext) -> None:
    if (request.header("mcp-method") or "").lower() == context.method.lower():
        request.set("Mcp-Method", context.method)


@on_call("ignores the value of Mcp-Method", breaks="sep-2243-server-reject-invalid-headers")
def method_not_read(request: Request, context: FaultContext) -> None:
    if request.header("mcp-method") is not None:
        request.set("Mcp-Method", context.method)


@on_call("accepts requests without Mcp-Name", breaks="sep-2243-server-reject-invalid-headers")
def name_not_needed(request: Request, context: FaultContext) -> None:
    if context.method == "tools/call" and request.header("mcp-name") is None:
        request.set("Mcp-Name", context.params["name"])


@on_response("answers a wrong header with status 200", breaks="sep-2243-server-reject-invalid-headers")
def refusal_is_ok(response: Response, context: FaultContext) -> None:
    response.status = 200 if response.status == 400 else response.status


@on_call("refuses a correct Mcp-Name", breaks="sep-2243-server-standard-setup")
def right_headers_refused(request: Request, context: FaultContext) -> None:
    if request.header("mcp-name") == context.params.get("name"):
        request.set("Mcp-Name", "of-another-kind")


@on_call("never decodes parameter headers", breaks="sep-2243-server-decode-base64")
def param_never_decoded(request: Request, context: FaultContext) -> None:
    if (value := request.header("mcp-param-region") or "").endswith("?="):
        request.set("Mcp-Param-Region", f"literally {value}")


@on_call("decodes Base64 without padding", breaks="sep-2243-server-reject-invalid-param-chars")
def param_decoded_leniently(request: Request, context: FaultContext) -> None:
    if request.header("mcp-param-region") == "=?base64?SGVsbG8?=":
        request.set("Mcp-Param-Region", "=?base64?SGVsbG8=?=")


@on_call("accepts calls without parameter headers", breaks="sep-2243-server-reject-invalid-param-chars")
def param_not_needed(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    if request.header("mcp-param-region") is None and "region" in arguments:
        request.set("Mcp-Param-Region", arguments["region"])


@on_call("ignores the value of parameter headers", breaks="sep-2243-server-reject-param-mismatch")
def param_not_compared(request: Request, context: FaultContext) -> None:
    arguments = context.params.get("arguments", {})
    if request.header("mcp-param-region") == "of-another-kind" and "region" in arguments:
        request.set("Mcp-Param-Region", arguments["region"])


@on_call("decodes unmarked Base64", breaks="sep-2243-server-validate-param-match")
def param_decoded_always(request: Request, context: FaultContext) -> None:
    if request.header("mcp-param-region") == "SGVsbG8=":
        request.set("Mcp-Param-Region", "Hello")
