"""Faults in parameters with `x-mcp-header`, of a tool without annotations and in any list of tools."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from assay.lab.harness import FaultContext, Json, error_reply, on_result, result_reply
from assay.lab.harness.sabotage.saboteur import Double, LocalAnswer, Saboteur, params_of
from assay.lab.suite.mirrored_header import KEYWORD
from assay.lab.suite.tools.unannotated import UNANNOTATED
from assay.model.error import HEADER_MISMATCH
from assay.revisions.revision import Opening

from . import parameter_headers

# --- a tool whose parameters are mirrored in headers


PARAMETERS: Final[Json] = {
    "region": {"type": "string", KEYWORD: "Region"},
    "depth": {"type": "integer", KEYWORD: "Depth"},
}
LOCATE: Final[Json] = {
    "name": "locate",
    "description": "Locates a place.",
    "inputSchema": {"type": "object", "properties": PARAMETERS},
}


def _listed(reply: Json, context: FaultContext) -> Any:
    """The list of tools without annotations, with this tool first."""
    reply = UNANNOTATED.reply(reply, context)
    per_request = context.revision.opening is Opening.PER_REQUEST
    if (
        context.method == "tools/list"
        and "result" in reply
        and "cursor" not in context.params
        and per_request
    ):
        reply["result"]["tools"].insert(0, LOCATE)
    return reply


def _located(message: Json, context: FaultContext) -> Json | LocalAnswer:
    params = params_of(message)
    if message.get("method") != "tools/call" or params.get("name") != LOCATE["name"]:
        return UNANNOTATED.request(message, context)
    arguments = params.get("arguments")
    if not _is_mirrored(arguments if isinstance(arguments, dict) else {}, context):
        return LocalAnswer([error_reply(message, HEADER_MISMATCH, "A header differs from the body")], 400)
    content = [{"type": "text", "text": "here"}]
    return LocalAnswer([result_reply(message, {"content": content, "resultType": "complete"})])


def _is_mirrored(arguments: Json, context: FaultContext) -> bool:
    """Whether the headers repeat the arguments. Without an HTTP request there are none."""
    if context.call is None:
        return True
    headers = {name: context.call.header(f"Mcp-Param-{name}") for name in PARAMETERS}
    return context.call.header("Mcp-Name") is not None and all(
        _is_same(headers[name], arguments.get(name)) for name in PARAMETERS
    )


def _is_same(header: str | None, argument: Any) -> bool:
    if header is None or argument is None:
        return header is None and argument is None
    try:
        return float(header) == argument if isinstance(argument, int) else header == argument
    except ValueError:
        return False


MIRRORED: Final = Double("mirrored", request=_located, reply=_listed)


# --- what the checks must catch


IN_HEADERS: Final = tuple(
    msgspec.structs.replace(
        saboteur,
        id=f"{saboteur.id}-unannotated",
        fault=f"{saboteur.fault}, with a tool that has no annotations",
        server=None,
        double=MIRRORED,
    )
    for saboteur in (
        parameter_headers.param_header_always,
        parameter_headers.param_header_optional,
        parameter_headers.param_letters_dropped,
        parameter_headers.param_header_not_read,
        parameter_headers.param_number_as_text,
    )
)


def _marked(name: str, fault: str, breaks: str, **parameters: Json) -> Saboteur:
    """A fault in parameters that the first tool of any server gets."""

    def edit(result: Json, context: FaultContext) -> None:
        for tool in result["tools"][:1]:
            tool["inputSchema"].setdefault("properties", {}).update(parameters)

    options: Json = {"method": "tools/list", "scenario": "tools.definitions", "double": UNANNOTATED}
    saboteur: Saboteur = on_result(fault, id=f"http.{name}", breaks=breaks, **options)(edit)
    return saboteur


def _text(header: str) -> Json:
    return {"type": "string", KEYWORD: header}


MARKED: Final = (
    _marked("marked-without-name", "marks any parameter with an empty name", "XH-02", where=_text("")),
    _marked("marked-with-space", "marks any parameter with a space", "XH-03", where=_text("Where To")),
    _marked("marked-with-newline", "marks any parameter with a newline", "XH-04", where=_text("A\nB: c")),
    _marked(
        "marked-twice", "marks any two parameters alike", "XH-05", where=_text("Where"), to=_text("WHERE")
    ),
    _marked(
        "marked-number", "marks any parameter of type number", "XH-06", size={"type": "number", KEYWORD: "S"}
    ),
    _marked(
        "marked-items",
        "marks the items of any list",
        "XH-07",
        all={"type": "array", "items": _text("All")},
    ),
)
