"""`x-mcp-header`: parameters that clients repeat in headers."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import Final

from assay.lab.client.altered_message import alters_header
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

BAD: Final = "badly_marked"
GOOD: Final = "well_marked"
REPORT: Final = "report"
"""The tool that the client calls with the schemas of other tools, as it knows them."""
REMARKED: Final = "remarked"

# --- what is asked


TYPES: Final = {"region": "string", "limit": "integer", "dry": "boolean", "note": "string"}
CALLS: Final = (
    call_tool("query", region="us-west1", limit=42, dry=True, note="naïve, 東京"),
    call_tool("query", region="=?base64?dXM=?=", limit=-7, dry=False, note=" padded "),
    call_tool("query", region="eu", note=None),
)


@client_scenario(
    f"Designate arguments with `{KEYWORD}`",
    script=ClientScript(steps=(LIST_TOOLS, *CALLS)),
    exercises=("http.param-headers",),
    transports=HTTP_ONLY,
)
async def drive_param_headers(stage: ClientStage) -> None:
    properties = {name: {"type": kind, KEYWORD: name.title()} for name, kind in TYPES.items()}
    stage.server.add_tool({"name": "query", "inputSchema": {"type": "object", "properties": properties}})


@client_scenario(
    f"Offer a tool with an invalid `{KEYWORD}`",
    script=ClientScript(
        steps=(
            LIST_TOOLS,
            step("echo_schema", of=GOOD, **{"with": REPORT}),
            optional(step("echo_schema", of=BAD, **{"with": REPORT})),
            call_tool(AFTER),
        )
    ),
    exercises=("http.bad-marks",),
    transports=HTTP_ONLY,
)
async def drive_bad_marks(stage: ClientStage) -> None:
    # The name of a header has no space.
    for name, header in ((BAD, "My Region"), (GOOD, "Region")):
        properties = {"region": {"type": "string", KEYWORD: header}}
        schema = {"type": "object", "description": name, "properties": properties}
        stage.server.add_tool({"name": name, "inputSchema": schema})
    for name in (REPORT, AFTER):
        stage.server.add_tool({"name": name})


@client_scenario(
    f"Reject a call because `{KEYWORD}` was added to the tool",
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

    region = {"type": "string"}
    schema = {"type": "object", "properties": {"region": region}}
    stage.server.add_tool({"name": REMARKED, "inputSchema": schema}, work)


# --- how it is judged


@check(
    "Designated arguments are repeated in headers",
    requirements=("XH-01", "XH-10", "XH-11", "XH-12", "XH-13", "XH-14"),
    transports=HTTP_ONLY,
)
def judge_param_headers(trace: Trace) -> Iterator[Observation]:
    tools = tools_in(trace.subject_exchanges("tools/list"))
    for call in endpoint_calls(trace, "POST"):
        for mirror in param_mirrors(call, tools):
            yield from _judge_mirror(call, mirror)


def _judge_mirror(call: Call, mirror: Mirror) -> Iterator[Observation]:
    observed = f"{mirror.header}: {mirror.sent}" if mirror.sent is not None else f"no {mirror.header}"
    if mirror.value is None:
        expected = f"no {mirror.header} for an absent argument"
        yield observe("XH-14", mirror.sent is None, call, expected=expected, observed=observed)
        return
    text = as_text(mirror.value)
    expected = f"{mirror.header}: {as_header(text)}"
    yield observe("XH-01", mirror.sent is not None, call, expected=expected, observed=observed)
    if mirror.sent is None:
        return
    if mirror.is_encoded or mirror.has_odd_markers:
        yield observe("XH-13", mirror.is_encoded, call, expected=expected, observed=observed)
    is_safe = as_header(text) == text
    requirement = "XH-12" if ENCODED.fullmatch(text) else "XH-10" if is_safe else "XH-11"
    # A safe value may be encoded as well.
    holds = mirror.flaw is None and (mirror.is_encoded or is_safe)
    yield observe(requirement, holds, call, expected=expected, observed=observed)


@check("Only tools with an invalid annotation are dropped", requirements=("XH-08",), transports=HTTP_ONLY)
def judge_bad_marks(trace: Trace) -> Iterator[Observation]:
    reports = calls_of(trace, REPORT)
    bad = [report for report in reports if _reported(report.params) == BAD]
    good = [report for report in reports if _reported(report.params) == GOOD]
    for report in bad:
        observed = f"the client still has the schema of {BAD}"
        yield observe("XH-08", False, report, expected=f"no tool {BAD}", observed=observed)
    for after in calls_of(trace, AFTER)[:1]:
        if not bad:
            observed = f"the client has no tool {GOOD} either"
            yield observe("XH-08", bool(good), *good, after, expected=f"a tool {GOOD}", observed=observed)


def _reported(params: dict[str, object]) -> object:
    """The tool whose annotated schema was reported: its description has the name."""
    arguments = params.get("arguments")
    schema = arguments.get("schema") if isinstance(arguments, dict) else None
    annotated = isinstance(schema, dict) and annotations_of({"inputSchema": schema})
    return schema.get("description") if isinstance(schema, dict) and annotated else None


@check(
    "After a header mismatch, the client lists the tools again and retries",
    requirements=("XH-20",),
    transports=HTTP_ONLY,
)
def judge_mismatch(trace: Trace) -> Iterator[Observation]:
    calls = calls_of(trace, REMARKED)
    for refused in [call for call in calls if call.code == HEADER_MISMATCH][:1]:
        since = refused.request.frame.n
        retries = [call for call in calls if call.request.frame.n > since]
        until = retries[0].request.frame.n if retries else len(trace.frames)
        lists = [
            page for page in trace.subject_exchanges("tools/list") if since < page.request.frame.n < until
        ]
        if retries or has_ended(trace):
            expected = "tools/list, then the call with other headers"
            observed = f"{len(lists)} lists and {len(retries)} calls"
            evidence, holds = (*lists, *retries[:1]), bool(lists and retries)
            yield observe("XH-20", holds, refused, *evidence, expected=expected, observed=observed)


# --- what the checks must catch


def _decoded(value: str) -> str:
    encoded = ENCODED.fullmatch(value)
    return b64decode(encoded[1]).decode() if encoded else value


HEADERS: Final = tuple(
    alters_header(f"http.{name}", fault, breaks, f"Mcp-Param-{argument}", change)
    for name, fault, breaks, argument, change in (
        ("python-booleans", "writes a boolean as `True`", "XH-10", "Dry", str.title),
        ("raw-values", "does not encode unsafe values", "XH-11", "Note", _decoded),
        ("lookalike", "does not encode a value that looks encoded", "XH-12", "Region", _decoded),
    )
)


@on_request(
    "writes the markers of encoded values in upper case", breaks="XH-13", scenario="http.param-headers"
)
def markers_in_capitals(request: Request, client: ScriptedClient) -> Request:
    for name, value in list(request.headers):
        if name.startswith("Mcp-Param-"):
            request.set(name, value.replace("=?base64?", "=?BASE64?"))
    return request


@on_request("sends a header for a null argument", breaks="XH-14")
def null_header(request: Request, client: ScriptedClient) -> Request:
    if request.header("Mcp-Param-Region") == "eu":
        request.set("Mcp-Param-Note", "null")
    return request


BEHAVIOURS: Final = (
    behaviour("http.no-param-headers", "does not repeat arguments in headers", breaks="XH-01", mirrors=False),
    behaviour(
        "http.keeps-bad-marks", "keeps tools with bad annotations", breaks="XH-08", drops_badly_marked=False
    ),
    behaviour(
        "http.old-marks", "does not retry after a header mismatch", breaks="XH-20", refreshes_headers=False
    ),
)
