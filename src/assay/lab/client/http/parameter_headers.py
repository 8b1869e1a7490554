"""`x-mcp-header`: parameters that clients repeat in headers."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import Final

from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, calls_of, endpoint_calls, has_ended
from assay.lab.harness import Observation, Request, Trace, check, observe
from assay.lab.harness.driver.message_meta import as_header
from assay.lab.harness.sabotage.client_saboteur import behaviour, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.answer import Answer, AnswerError
from assay.lab.harness.scripted_server.client_script import (
    LIST_TOOLS,
    ClientScript,
    call_tool,
    optional,
    step,
)
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import (
    ENCODED,
    KEYWORD,
    Mirror,
    annotations_of,
    as_text,
    param_mirrors,
    tools_in,
)
from assay.model.error import HEADER_MISMATCH

# --- what is asked


TYPES = {"region": "string", "limit": "integer", "dry": "boolean", "note": "string"}
SCHEMA = {
    "type": "object",
    "properties": {name: {"type": kind, KEYWORD: name.title()} for name, kind in TYPES.items()},
}
CALLS = (
    call_tool("query", region="us-west1", limit=42, dry=True, note="naïve, 東京"),
    call_tool("query", region="=?base64?dXM=?=", limit=-7, dry=False, note=" padded "),
    call_tool("query", region="eu", note=None),
)


@client_scenario(
    "Arguments that a tool marks are repeated in headers",
    script=ClientScript(steps=(LIST_TOOLS, *CALLS)),
    exercises=("http.param-headers",),
    transports=HTTP_ONLY,
)
async def drive_param_headers(stage: ClientStage) -> None:
    stage.server.add_tool({"name": "query", "inputSchema": SCHEMA})


# --- how it is judged


BAD, GOOD = "badly_marked", "well_marked"
REPORT = "report"
"""The tool that is given the schemas of others, as the client has them."""
STEPS = (
    LIST_TOOLS,
    step("echo_schema", of=GOOD, **{"with": REPORT}),
    optional(step("echo_schema", of=BAD, **{"with": REPORT})),
    call_tool(AFTER),
)


@client_scenario(
    "A tool with bad marks is left out, and the others are kept",
    script=ClientScript(steps=STEPS),
    exercises=("http.bad-marks",),
    transports=HTTP_ONLY,
)
async def drive_bad_marks(stage: ClientStage) -> None:
    # A header's name has no space in it.
    for name, header in ((BAD, "My Region"), (GOOD, "Region")):
        properties = {"region": {"type": "string", KEYWORD: header}}
        schema = {"type": "object", "description": name, "properties": properties}
        stage.server.add_tool({"name": name, "inputSchema": schema})
    for name in (REPORT, AFTER):
        stage.server.add_tool({"name": name})


REGION: dict[str, str] = {"type": "string"}
REMARKED = "remarked"


@client_scenario(
    "Headers that do not fit are mended by listing the tools again",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(REMARKED, region="eu")), may_fail=True),
    exercises=("http.mismatch",),
    transports=HTTP_ONLY,
)
async def drive_mismatch(stage: ClientStage) -> None:
    async def work(cycle: RequestCycle) -> Answer:
        if cycle.http_request is None or cycle.http_request.header("Mcp-Param-Region") != "eu":
            region[KEYWORD] = "Region"
            raise AnswerError(HEADER_MISMATCH, "Mcp-Param-Region is missing")
        return {"content": [{"type": "text", "text": "done"}]}

    region = dict(REGION)
    schema = {"type": "object", "properties": {"region": region}}
    stage.server.add_tool({"name": REMARKED, "inputSchema": schema}, work)


HERE, TEXT, UNSAFE, LOOKALIKE, MARKERS, ABSENT = "XH-01", "XH-10", "XH-11", "XH-12", "XH-13", "XH-14"


@check(
    "Marked arguments are repeated in headers",
    requirements=(HERE, TEXT, UNSAFE, LOOKALIKE, MARKERS, ABSENT),
    transports=HTTP_ONLY,
)
def judge_param_headers(trace: Trace) -> Iterator[Observation]:
    tools = tools_in(trace.subject_exchanges("tools/list"))
    for call in endpoint_calls(trace, "POST"):
        for mirror in param_mirrors(call, tools):
            yield from _judged(call, mirror)


def _judged(call: Call, mirror: Mirror) -> Iterator[Observation]:
    observed = f"{mirror.header}: {mirror.sent}" if mirror.sent is not None else f"no {mirror.header}"
    if mirror.value is None:
        expected = f"no {mirror.header} for an argument that is not there"
        yield observe(ABSENT, mirror.sent is None, call, expected=expected, observed=observed)
        return
    expected = f"{mirror.header}: {as_header(as_text(mirror.value))}"
    yield observe(HERE, mirror.sent is not None, call, expected=expected, observed=observed)
    if mirror.sent is None:
        return
    if mirror.is_encoded or mirror.has_odd_markers:
        yield observe(MARKERS, mirror.is_encoded, call, expected=expected, observed=observed)
    yield observe(_row(mirror), _is_right(mirror), call, expected=expected, observed=observed)


def _row(mirror: Mirror) -> str:
    told = as_text(mirror.value)
    if ENCODED.fullmatch(told):
        return LOOKALIKE
    return TEXT if as_header(told) == told else UNSAFE


def _is_right(mirror: Mirror) -> bool:
    """What is safe may be encoded all the same; what is not must be."""
    told = as_text(mirror.value)
    return mirror.flaw is None and (mirror.is_encoded or as_header(told) == told)


@check("A tool with bad marks is left out", requirements=("XH-08",), transports=HTTP_ONLY)
def judge_bad_marks(trace: Trace) -> Iterator[Observation]:
    reported = [(one, _mark(one.params)) for one in calls_of(trace, REPORT)]
    bad = [one for one, mark in reported if mark == BAD]
    good = [one for one, mark in reported if mark == GOOD]
    for one in bad:
        observed = f"the client still has the schema of {BAD}"
        yield observe("XH-08", False, one, expected=f"no tool {BAD}", observed=observed)
    for after in calls_of(trace, AFTER)[:1]:
        if not bad:
            observed = f"the client has no tool {GOOD} either"
            yield observe("XH-08", bool(good), *good, after, expected=f"a tool {GOOD}", observed=observed)


def _mark(params: dict[str, object]) -> str:
    """Which tool's schema was given: each says so in its description."""
    arguments = params.get("arguments")
    schema = arguments.get("schema") if isinstance(arguments, dict) else None
    told = schema.get("description") if isinstance(schema, dict) else None
    marked = isinstance(schema, dict) and bool(annotations_of({"inputSchema": schema}))
    return told if isinstance(told, str) and marked else f"no {KEYWORD}"


@check("Headers that do not fit are mended", requirements=("XH-20",), transports=HTTP_ONLY)
def judge_mismatch(trace: Trace) -> Iterator[Observation]:
    called = calls_of(trace, REMARKED)
    for refused in [one for one in called if one.code == HEADER_MISMATCH][:1]:
        since = refused.request.frame.n
        again = [one for one in called if one.request.frame.n > since]
        until = again[0].request.frame.n if again else len(trace.frames)
        listed = [one for one in trace.subject_exchanges("tools/list") if since < one.request.frame.n < until]
        if again or has_ended(trace):
            expected = "tools/list, then the call with other headers"
            observed = f"{len(listed)} listings and {len(again)} calls"
            holds = bool(listed and again)
            yield observe("XH-20", holds, refused, *listed, *again[:1], expected=expected, observed=observed)


# --- what the checks must catch


@on_request("a boolean is `True` in its header", breaks="XH-10")
def python_booleans(request: Request, client: ScriptedClient) -> Request:
    if given := request.header("Mcp-Param-Dry"):
        request.set("Mcp-Param-Dry", given.title())
    return request


HEADER = "Mcp-Param-Note"


@on_request("values that are not safe are not encoded", breaks="XH-11")
def raw_values(request: Request, client: ScriptedClient) -> Request:
    given = request.header(HEADER) or ""
    if found := ENCODED.fullmatch(given):
        request.set(HEADER, b64decode(found[1]).decode())
    return request


LOOKALIKE_HEADER = "Mcp-Param-Region"


@on_request("a value that looks encoded is not encoded", breaks="XH-12")
def lookalike(request: Request, client: ScriptedClient) -> Request:
    given = request.header(LOOKALIKE_HEADER) or ""
    if found := ENCODED.fullmatch(given):
        request.set(LOOKALIKE_HEADER, b64decode(found[1]).decode())
    return request


@on_request("the markers of encoded values are in capitals", breaks="XH-13", scenario="http.param-headers")
def markers_in_capitals(request: Request, client: ScriptedClient) -> Request:
    for name, value in list(request.headers):
        if name.startswith("Mcp-Param-"):
            request.set(name, value.replace("=?base64?", "=?BASE64?"))
    return request


@on_request("an argument that is null has a header", breaks="XH-14")
def null_header(request: Request, client: ScriptedClient) -> Request:
    if request.header("Mcp-Param-Region") == "eu":
        request.set("Mcp-Param-Note", "null")
    return request


BEHAVIOURS: Final = (
    behaviour(
        "http.no-param-headers", "marked arguments are not repeated in headers", breaks="XH-01", mirrors=False
    ),
    behaviour(
        "http.keeps-bad-marks", "tools with bad marks are kept", breaks="XH-08", drops_badly_marked=False
    ),
    behaviour(
        "http.old-marks", "headers that do not fit are not mended", breaks="XH-20", refreshes_headers=False
    ),
)
