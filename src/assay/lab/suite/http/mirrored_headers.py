"""Headers that mirror the method and the name in the body."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from typing import Any, Final

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
from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.need import Need
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored_header import METHOD, NAME, VERSION, Flaw, Mirror, is_mismatch, standard_mirrors
from assay.model.error import HEADER_MISMATCH, INVALID_PARAMS
from assay.revisions.revision import Revision

# --- what is asked


UNKNOWN_VERSION: Final = "1999-12-31"


@scenario(
    "Send wrong values in Mcp-Method and MCP-Protocol-Version",
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
    for value in (None, "tools/list", method.upper()):
        await peer.request(method, headers={METHOD: value})
    for version in (stage.revision.date, UNKNOWN_VERSION):
        await peer.request(method, {"_meta": {VERSION_KEY: UNKNOWN_VERSION}}, headers={VERSION: version})


def _safe_request(facts: Facts) -> tuple[str, str, dict[str, Any]] | None:
    """The method, name and parameters of a request without effects that has a name."""
    for resource in facts.resources:
        if isinstance(uri := resource.get("uri"), str):
            return "resources/read", uri, {"uri": uri}
    for tool in facts.quick_tools:
        if isinstance(name := tool.get("name"), str):
            return "tools/call", name, {"name": name, "arguments": facts.arguments_for(tool)}
    for prompt in facts.prompts:
        if isinstance(name := prompt.get("name"), str):
            return "prompts/get", name, {"name": name}
    return None


A_NAMED_REQUEST: Final = Need(
    lambda facts: _safe_request(facts) is not None, "has no resource, prompt or tool that may be called"
)


@scenario(
    "Send wrong values in Mcp-Name",
    exercises=("http.mirrored-headers",),
    needs=(A_NAMED_REQUEST,),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.mirrored is not None,
)
async def drive_mirrored_name(stage: Stage) -> None:
    request = _safe_request(stage.facts)
    assert request is not None
    method, name, params = request
    peer = await stage.open()
    encoded = b64encode(name.encode()).decode()
    await peer.request(method, params)
    for value in (
        f"=?base64?{encoded}?=",
        f"=?BASE64?{encoded}?=",
        None,
        f"{name}-of-another-kind",
        f"{name}\N{LATIN SMALL LETTER E WITH ACUTE}",
    ):
        await peer.request(method, params, headers={NAME: value})


# --- how it is judged


BY_FLAW: Final = {Flaw.MISSING: "HTTP-57", Flaw.CHARACTERS: "HTTP-59", Flaw.DIFFERENT: "HTTP-58"}


@check(
    "Headers must match the body",
    requirements={
        "HTTP-50": "A version header that differs from the body was not refused",
        "HTTP-57": "A request without a required header was not refused",
        "HTTP-58": "A header that differs from the body was not refused",
        "HTTP-59": "A header with invalid characters was not refused",
        "HTTP-60": "A header in Base64 was not decoded",
        "HTTP-61": "The case of a header's name or value was not handled correctly",
        "XH-13": "Base64 markers in capitals were accepted",
    },
    transports=HTTP_ONLY,
)
def judge_mirrored_headers(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        mirrors = standard_mirrors(call, trace.revision)
        flawed = [mirror for mirror in mirrors if mirror.flaw is not None]
        observed = f"status {call.status}, error {call.code}"
        for mirror in mirrors if not flawed else ():
            accepted = call.code != HEADER_MISMATCH
            expected = f"{mirror.spelled}: {mirror.sent} to match {mirror.value}"
            if mirror.is_encoded:
                yield observe("HTTP-60", accepted, call, expected=expected, observed=observed)
            if mirror.spelled != mirror.header:
                yield observe("HTTP-61", accepted, call, expected=expected, observed=observed)
        if len(flawed) == 1 and (requirement := _requirement(flawed[0], trace.revision)):
            flaw = flawed[0].flaw
            problem = f"{flawed[0].header} is {flaw.value if flaw is not None else 'right'}"
            expected = f"status 400 with error {HEADER_MISMATCH}: {problem}"
            yield observe(requirement, is_mismatch(call), call, expected=expected, observed=observed)


def _requirement(mirror: Mirror, revision: Revision) -> str | None:
    flaw = mirror.flaw
    if mirror.header == VERSION:
        # With another version in the header, the server may apply the rules of an older revision.
        return "HTTP-50" if mirror.sent == revision.date else None
    if flaw is Flaw.DIFFERENT and mirror.has_odd_markers:
        return "XH-13"
    return "HTTP-61" if mirror.differs_in_case else BY_FLAW.get(flaw) if flaw else None


# --- what the checks must catch


@on_call("accepts a version header that differs from the body", breaks="HTTP-50")
def version_of_body(request: Request, context: FaultContext) -> None:
    version = context.meta.get(VERSION_KEY)
    if version is not None and request.header(VERSION) is not None:
        request.set(VERSION, version)


@on_call("accepts a request without Mcp-Method", breaks="HTTP-57")
def method_header_optional(request: Request, context: FaultContext) -> None:
    if request.header(METHOD) is None and context.method != "initialize":
        request.set(METHOD, context.method)


NAME_KEYS: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@on_call("accepts a request without Mcp-Name", breaks="HTTP-57", scenario="http.mirrored-name")
def name_header_optional(request: Request, context: FaultContext) -> None:
    if request.header(NAME) is None and context.method in NAME_KEYS:
        request.set(NAME, context.params[NAME_KEYS[context.method]])


@on_reply("refuses a header that differs with -32602", breaks="HTTP-58", transports=HTTP_ONLY)
def mismatch_is_invalid_params(reply: Json, context: FaultContext) -> Json:
    error = reply.get("error", {})
    return (
        {**reply, "error": {**error, "code": INVALID_PARAMS}}
        if error.get("code") == HEADER_MISMATCH
        else reply
    )


@on_call("accepts any value in Mcp-Name", breaks="HTTP-58", scenario="http.mirrored-name")
def name_header_not_read(request: Request, context: FaultContext) -> None:
    if request.header(NAME) is not None and context.method in NAME_KEYS:
        request.set(NAME, context.params[NAME_KEYS[context.method]])


@on_call("drops invalid characters from a header", breaks="HTTP-59")
def letters_dropped(request: Request, context: FaultContext) -> None:
    if (name := request.header(NAME)) is not None:
        request.set(NAME, name.encode("ascii", "ignore").decode())


@on_call("refuses a name in Base64", breaks="HTTP-60")
def base64_taken_literally(request: Request, context: FaultContext) -> None:
    if (name := request.header(NAME) or "").startswith("=?base64?"):
        request.set(NAME, f"literally {name}")


@on_call("ignores a header whose name is in lower case", breaks="HTTP-61")
def header_name_by_case(request: Request, context: FaultContext) -> None:
    request.headers = [(name, value) for name, value in request.headers if name != METHOD.lower()]


@on_call("ignores case when it compares Mcp-Method", breaks="HTTP-61")
def method_in_any_case(request: Request, context: FaultContext) -> None:
    if (request.header(METHOD) or "").lower() == context.method.lower():
        request.set(METHOD, context.method)


@on_call("decodes =?BASE64?", breaks="XH-13")
def markers_in_any_case(request: Request, context: FaultContext) -> None:
    if (name := request.header(NAME)) is not None:
        request.set(NAME, name.replace("=?BASE64?", "=?base64?"))
