"""Headers that repeat the method and name in the body."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Request,
    Stage,
    Trace,
    check,
    observe,
    on_call,
    on_reply,
    scenario,
)
from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.need import Need
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.trace import Call
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import METHOD, NAME, VERSION, Flaw, Mirror, is_mismatch, standard_mirrors
from assay.model.error import HEADER_MISMATCH, INVALID_PARAMS
from assay.revisions.revision import Revision

# --- what is asked


NO_VERSION = "1999-12-31"


@scenario(
    "Version and method in headers",
    exercises=("http.mirrored-headers", "http.unsupported-version"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.mirrored is not None,
)
async def drive_mirrored_method(stage: Stage) -> None:
    peer = await stage.open()
    method = stage.plain
    await peer.request(method)
    for spelled in (METHOD.lower(), METHOD.upper()):
        await peer.request(method, headers={METHOD: None, spelled: method})
    for given in (None, "tools/list", method.upper()):
        await peer.request(method, headers={METHOD: given})
    for version in (stage.revision.date, NO_VERSION):
        await peer.request(method, {"_meta": {VERSION_KEY: NO_VERSION}}, headers={VERSION: version})


def harmless(facts: Facts) -> tuple[str, str, dict[str, Any]] | None:
    """A request with a name that changes nothing, its name, and its parameters."""
    for resource in facts.resources:
        if isinstance(uri := resource.get("uri"), str):
            return "resources/read", uri, {"uri": uri}
    for tool in facts.read_only_tools:
        if isinstance(name := tool.get("name"), str):
            return "tools/call", name, {"name": name, "arguments": arguments_for(tool)}
    for prompt in facts.prompts:
        if isinstance(name := prompt.get("name"), str):
            return "prompts/get", name, {"name": name}
    return None


@scenario(
    "Names in headers",
    exercises=("http.mirrored-headers",),
    needs=(Need(lambda facts: harmless(facts) is not None, "has nothing that can be named without effects"),),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.mirrored is not None,
)
async def drive_mirrored_name(stage: Stage) -> None:
    found = harmless(stage.facts)
    assert found is not None
    method, name, params = found
    peer = await stage.open()
    encoded = b64encode(name.encode()).decode()
    await peer.request(method, params)
    for given in (
        f"=?base64?{encoded}?=",
        f"=?BASE64?{encoded}?=",
        None,
        f"{name}-of-another-kind",
        f"{name}\N{LATIN SMALL LETTER E WITH ACUTE}",
    ):
        await peer.request(method, params, headers={NAME: given})


# --- how it is judged


ROWS = {Flaw.MISSING: "HTTP-57", Flaw.CHARACTERS: "HTTP-59", Flaw.DIFFERENT: "HTTP-58"}


@check(
    "Headers must repeat the body",
    requirements=("HTTP-50", "HTTP-57", "HTTP-58", "HTTP-59", "HTTP-60", "HTTP-61", "XH-13"),
    transports=HTTP_ONLY,
)
def judge_mirrored_headers(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        mirrors = standard_mirrors(call, trace.revision)
        flawed = [one for one in mirrors if one.flaw is not None]
        if not flawed:
            yield from _taken(call, mirrors)
        elif len(flawed) == 1 and (row := _row(flawed[0], trace.revision)):
            yield observe(
                row,
                is_mismatch(call),
                call,
                expected=f"status 400 with error {HEADER_MISMATCH}: {flawed[0].header} is {_what(flawed[0])}",
                observed=f"status {call.status}, error {call.code}",
            )


def _row(mirror: Mirror, revision: Revision) -> str | None:
    flaw = mirror.flaw
    if mirror.header == VERSION:
        # Without this version in it, the header may mean an older client, who is served by older rules.
        return "HTTP-50" if mirror.given == revision.date else None
    if flaw is Flaw.DIFFERENT and mirror.has_odd_markers:
        return "XH-13"
    return "HTTP-61" if mirror.differs_in_case else ROWS.get(flaw) if flaw else None


def _what(mirror: Mirror) -> str:
    return mirror.flaw.value if mirror.flaw is not None else "right"


def _taken(call: Call, mirrors: list[Mirror]) -> Iterator[Observation]:
    for mirror in mirrors:
        unusual = {"HTTP-60": mirror.is_encoded, "HTTP-61": mirror.spelled != mirror.header}
        for row in (row for row, is_so in unusual.items() if is_so):
            yield observe(
                row,
                call.code != HEADER_MISMATCH,
                call,
                expected=f"{mirror.spelled}: {mirror.given} is taken for {mirror.told}",
                observed=f"status {call.status}, error {call.code}",
            )


# --- what the checks must catch


@on_call("a version header that differs from the body is served", breaks="HTTP-50")
def version_of_body(request: Request, context: FaultContext) -> None:
    told = context.meta.get(VERSION_KEY)
    if told is not None and request.header("mcp-protocol-version") is not None:
        request.set("MCP-Protocol-Version", told)


@on_call("a request without Mcp-Method is served", breaks="HTTP-57")
def method_header_optional(request: Request, context: FaultContext) -> None:
    if request.header("mcp-method") is None and context.method != "initialize":
        request.set("Mcp-Method", context.method)


NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@on_call("a request without Mcp-Name is served", breaks="HTTP-57", scenario="http.mirrored-name")
def name_header_optional(request: Request, context: FaultContext) -> None:
    if request.header("mcp-name") is None and context.method in NAMED:
        request.set("Mcp-Name", context.params[NAMED[context.method]])


@on_reply("a header that differs gets -32602", breaks="HTTP-58", transports=HTTP_ONLY)
def mismatch_is_invalid_params(reply: Json, context: FaultContext) -> Json:
    error = reply.get("error", {})
    if error.get("code") != HEADER_MISMATCH:
        return reply
    return {**reply, "error": {**error, "code": INVALID_PARAMS}}


@on_call("Mcp-Name may say anything", breaks="HTTP-58", scenario="http.mirrored-name")
def name_header_not_read(request: Request, context: FaultContext) -> None:
    if request.header("mcp-name") is not None and context.method in NAMED:
        request.set("Mcp-Name", context.params[NAMED[context.method]])


@on_call("letters that no header may hold are dropped", breaks="HTTP-59")
def letters_dropped(request: Request, context: FaultContext) -> None:
    if (given := request.header("mcp-name")) is not None:
        request.set("Mcp-Name", given.encode("ascii", "ignore").decode())


@on_call("a name in Base64 is refused", breaks="HTTP-60")
def base64_taken_literally(request: Request, context: FaultContext) -> None:
    if (given := request.header("mcp-name") or "").startswith("=?base64?"):
        request.set("Mcp-Name", f"literally {given}")


@on_call("a header whose name is in small letters is not found", breaks="HTTP-61")
def header_name_by_case(request: Request, context: FaultContext) -> None:
    request.headers = [(name, value) for name, value in request.headers if name != "mcp-method"]


@on_call("Mcp-Method is compared without regard to case", breaks="HTTP-61")
def method_in_any_case(request: Request, context: FaultContext) -> None:
    if (request.header("mcp-method") or "").lower() == context.method.lower():
        request.set("Mcp-Method", context.method)


@on_call("=?BASE64? is decoded", breaks="XH-13")
def markers_in_any_case(request: Request, context: FaultContext) -> None:
    if (given := request.header("mcp-name")) is not None:
        request.set("Mcp-Name", given.replace("=?BASE64?", "=?base64?"))
