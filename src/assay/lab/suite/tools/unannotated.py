"""Faults in tools that say nothing about their effects and refuse made-up arguments, as most tools do.

They are in front of a double whose tools have no annotations. Its own tools only work with an id that another
tool returns, a value from a description, an enumerated value or one of a format.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import msgspec

from assay.lab.harness import FaultContext, Json, error_reply, on_reply, on_request, result_reply
from assay.lab.harness.sabotage.saboteur import Double, LocalAnswer, Saboteur, params_of
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.suite.utilities import cancellation, log_messages, progress
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS
from assay.revisions.revision import Opening, Structured

ORDER: Final = "ord-4711"
CALLS: Final = "tools.read-only-calls"


def _schema(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _tool(name: str, description: str, key: str, **arguments: Json) -> Json:
    """A tool whose result is an object with this key."""
    output = _schema(**{key: {"type": "string"}})
    inputs = _schema(**arguments)
    return {"name": name, "description": description, "inputSchema": inputs, "outputSchema": output}


TOOLS: Final = (
    _tool("list_orders", "Lists the latest orders.", "id"),
    _tool("get_order", "Gets an order.", "total", order_id={"type": "string"}),
    _tool(
        "forecast", "Forecast.\n\nArgs:\n    place: where, e.g. Lisbon", "weather", place={"type": "string"}
    ),
    _tool("convert", "Converts.", "value", unit={"type": "string", "enum": ["metre", "mile"]}),
    _tool("open_days", "Days.", "days", since={"type": "string", "format": "date"}),
    _tool("pay_order", "Pays an order, with a card that is never accepted.", "paid", card={"type": "string"}),
)
NAMES: Final = frozenset(tool["name"] for tool in TOOLS)
_WORKS: Final[dict[str, Callable[[Json], bool]]] = {
    "list_orders": lambda arguments: arguments == {},
    "get_order": lambda arguments: arguments.get("order_id") == ORDER,
    "forecast": lambda arguments: arguments.get("place") == "Lisbon",
    "convert": lambda arguments: arguments.get("unit") in ("metre", "mile"),
    "open_days": lambda arguments: _is_date(arguments.get("since")),
    "pay_order": lambda arguments: False,
}


def _is_date(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 10 and value[:4].isdigit()


def _answer(message: Json, context: FaultContext) -> Json | LocalAnswer:
    params = params_of(message)
    name = str(params.get("name"))
    if message.get("method") != "tools/call" or name not in NAMES:
        return message
    arguments = params.get("arguments")
    works = _WORKS[name](arguments if isinstance(arguments, dict) else {})
    return LocalAnswer([result_reply(message, _result(name, works, context))])


def _result(name: str, works: bool, context: FaultContext) -> Json:
    typed = {"resultType": "complete"} if context.revision.opening is Opening.PER_REQUEST else {}
    if not works:
        return {"content": [{"type": "text", "text": f"{name}: not acceptable"}], "isError": True, **typed}
    tool = next(tool for tool in TOOLS if tool["name"] == name)
    value = {key: ORDER for key in tool["outputSchema"]["properties"]}
    content = [{"type": "text", "text": json.dumps(value)}]
    structured = {} if context.revision.structured is Structured.ABSENT else {"structuredContent": value}
    return {"content": content, **structured, **typed}


def _unannotated(reply: Json, context: FaultContext) -> Json:
    """The list without annotations. Of the server behind, only tools stay that may be called at any time."""
    if context.method == "tools/list" and "result" in reply:
        result = reply["result"]
        safe = [tool for tool in result["tools"] if (tool.get("annotations") or {}).get("readOnlyHint")]
        bare = [{key: part for key, part in tool.items() if key != "annotations"} for tool in safe]
        own = [] if "nextCursor" in result else [_in(tool, context) for tool in TOOLS]
        result["tools"] = [*bare, *own]
    return reply


def _in(tool: Json, context: FaultContext) -> Json:
    """A tool as a revision has it."""
    if context.revision.structured is Structured.ABSENT:
        return {key: part for key, part in tool.items() if key != "outputSchema"}
    return dict(tool)


UNANNOTATED: Final = Double("unannotated", request=_answer, reply=_unannotated)


# --- what the checks must catch


def _without_output(result: Json) -> None:
    result.pop("structuredContent", None)


def _misfit(result: Json) -> None:
    result["structuredContent"] = {"made": "up"}


def _list(result: Json) -> None:
    result["structuredContent"] = [result.get("structuredContent")]


def _no_text(result: Json) -> None:
    result["content"] = []


def _unknown_block(result: Json) -> None:
    result["content"] = [{"type": "text", "words": "no text"}]


RESULT_FAULTS: Final = (
    ("no-output", "returns no structured content", "TL-15", _without_output),
    ("misfit", "returns structured content that does not fit its output schema", "TL-15", _misfit),
    ("list", "returns a list as structured content", "TL-17", _list),
    ("no-text", "returns structured content without text", "TL-14", _no_text),
    ("broken-text", "returns a text block without text", "SHAPE-01", _unknown_block),
)
WORKING: Final = {
    "get_order": "that needs an id from another tool",
    "forecast": "that needs a value from its description",
    "convert": "that needs an enumerated value",
    "open_days": "that needs a date",
}


def _in_result(tool: str, name: str, fault: str, breaks: str, edit: Callable[[Json], None]) -> Saboteur:
    def change(reply: Json, context: FaultContext) -> Json:
        called = context.method == "tools/call" and context.params.get("name") == tool
        if called and "result" in reply and not reply["result"].get("isError"):
            edit(reply["result"])
        return reply

    text = f"a tool {WORKING[tool]} {fault}"
    options = {"breaks": breaks, "double": UNANNOTATED, "scenario": CALLS}
    dashed = tool.replace("_", "-")
    saboteur: Saboteur = on_reply(text, id=f"tools.unannotated-{dashed}-{name}", **options)(change)
    return saboteur


IN_RESULTS: Final = tuple(_in_result(tool, *row) for tool in WORKING for row in RESULT_FAULTS)


@on_reply(
    "reports the failure of a tool without annotations as error -32603",
    breaks="TL-20",
    double=UNANNOTATED,
    scenario=CALLS,
)
def unannotated_failure_is_an_error(reply: Json, context: FaultContext) -> Json:
    failed = context.params.get("name") == "pay_order" and reply.get("result", {}).get("isError")
    return error_reply(reply, INTERNAL_ERROR, "Internal error") if failed else reply


@on_reply(
    "reports invalid arguments of a tool without annotations as error -32602",
    breaks="TL-21",
    double=UNANNOTATED,
    scenario="tools.bad-arguments",
)
def unannotated_bad_arguments_are_an_error(reply: Json, context: FaultContext) -> Json:
    failed = context.params.get("name") in WORKING and reply.get("result", {}).get("isError")
    return error_reply(reply, INVALID_PARAMS, "Invalid arguments") if failed else reply


@on_request(
    "takes any arguments for a tool without annotations",
    breaks="TL-23",
    double=UNANNOTATED,
    scenario="tools.bad-arguments",
)
def unannotated_takes_anything(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "tools/call" and params_of(message).get("name") == "convert":
        message["params"]["arguments"] = {"unit": "metre"}
    return message


@on_request(
    "finds a tool without annotations in any letter case",
    breaks="TL-08",
    double=UNANNOTATED,
    transports=STDIO_ONLY,
    scenario="tools.bad-arguments",
)
def unannotated_any_case(message: Json, context: FaultContext) -> Json:
    params = params_of(message)
    if message.get("method") == "tools/call" and isinstance(params.get("name"), str):
        params["name"] = params["name"].lower()
    return message


def _again(*saboteurs: Saboteur) -> tuple[Saboteur, ...]:
    """The same faults in a server whose tools have no annotations."""
    return tuple(
        msgspec.structs.replace(
            saboteur,
            id=f"{saboteur.id}-unannotated",
            fault=f"{saboteur.fault}, with tools that have no annotations",
            double=UNANNOTATED,
        )
        for saboteur in saboteurs
    )


IN_UTILITIES: Final = _again(
    *progress.PROGRESS_EDITS,
    progress.progress_unasked,
    progress.progress_after_answer,
    cancellation.cancelled_error,
    cancellation.deaf_to_cancellation,
    cancellation.echoes_cancellation,
    log_messages.logs_unasked,
    log_messages.logs_after_answer,
    log_messages.logs_below_level,
    log_messages.level_ignored,
    log_messages.levels_from_the_wrong_end,
)
