"""Faults in the request state of a tool without annotations, which asks before it acts."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

import msgspec

from assay.lab.harness import FaultContext, Json, error_reply, result_reply
from assay.lab.harness.sabotage.saboteur import Double, LocalAnswer, params_of
from assay.lab.suite.tools.unannotated import UNANNOTATED
from assay.model.error import INVALID_PARAMS
from assay.revisions.revision import Opening

from . import input_required

# --- a tool that asks, and refuses answers without the state that it issued


BOOK: Final[Json] = {
    "name": "book_table",
    "description": "Books a table; asks for the name first.",
    "inputSchema": {"type": "object", "properties": {}},
}
FORM: Final[Json] = {
    "mode": "form",
    "message": "In which name?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}
SECRET: Final = b"a secret of the double"


def _signed(step: str) -> str:
    return f"{step}.{sha256(SECRET + step.encode()).hexdigest()}"


def _is_issued(state: Any) -> bool:
    return isinstance(state, str) and state == _signed(state.partition(".")[0])


def _listed(reply: Json, context: FaultContext) -> Any:
    reply = UNANNOTATED.reply(reply, context)
    per_request = context.revision.opening is Opening.PER_REQUEST
    if (
        context.method == "tools/list"
        and "result" in reply
        and "cursor" not in context.params
        and per_request
    ):
        reply["result"]["tools"].insert(0, BOOK)
    return reply


def _booked(message: Json, context: FaultContext) -> Json | LocalAnswer:
    params = params_of(message)
    if message.get("method") != "tools/call" or params.get("name") != BOOK["name"]:
        return UNANNOTATED.request(message, context)
    state, responses = params.get("requestState"), params.get("inputResponses")
    if state is None:
        question = {"who": {"method": "elicitation/create", "params": FORM}}
        result = {"resultType": "input_required", "inputRequests": question, "requestState": _signed("1")}
        return LocalAnswer([result_reply(message, result)])
    answer = responses.get("who") if isinstance(responses, dict) else None
    if not _is_issued(state) or not isinstance(answer, dict):
        return LocalAnswer([error_reply(message, INVALID_PARAMS, "These answers fit no question")])
    content = [{"type": "text", "text": "booked"}]
    return LocalAnswer([result_reply(message, {"content": content, "resultType": "complete"})])


ASKING: Final = Double("asking", request=_booked, reply=_listed)


# --- what the checks must catch


IN_STATE: Final = tuple(
    msgspec.structs.replace(
        saboteur,
        id=f"{saboteur.id}-unannotated",
        fault=f"{saboteur.fault}, with a tool that has no annotations",
        server=None,
        double=ASKING,
    )
    for saboteur in (input_required.state_readable, input_required.state_unverified)
)
