"""The questions of the fixtures, for servers on version 2 of the official Python SDK and on what uses it:
requests to the client in handshake revisions, an input-required result in later ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
from everything import CAPABILITIES, filled
from mcp import types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata

Json = dict[str, Any]

RESULTS = {
    "elicitation/create": types.ElicitResult,
    "sampling/createMessage": types.CreateMessageResult,
    "roots/list": types.ListRootsResult,
}


def fits(question: Json, answer: Json) -> bool:
    """Whether an accepted form matches its schema."""
    if answer.get("action") != "accept":
        return True
    schema = question["params"]["requestedSchema"]
    return jsonschema.Draft202012Validator(schema).is_valid(answer.get("content"))


def askable(session: Any, item: Json, questions: Json) -> Json:
    """The questions that the client supports.

    Raises:
        MCPError: the client lacks a required capability.
    """
    declared = session.client_capabilities
    can = declared.model_dump(exclude_none=True) if declared else {}
    missing = {key for key, question in questions.items() if CAPABILITIES[question["method"]] not in can}
    if missing == {*questions} or (missing and not item.get("choosy")):
        needed = {CAPABILITIES[questions[key]["method"]]: {} for key in missing}
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "The client cannot be asked",
            {"requiredCapabilities": needed},
        )
    return {key: question for key, question in questions.items() if key not in missing}


async def ask_now(session: Any, request_id: Any, item: Json, arguments: Json) -> Json:
    answers = {}
    related = ServerMessageMetadata(related_request_id=request_id)
    for questions in filled(item["rounds"], arguments):
        for key, question in askable(session, item, questions).items():
            request = types.server_request_adapter.validate_python(question)
            result = await session.send_request(request, RESULTS[question["method"]], metadata=related)
            answers[key] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            if not fits(question, answers[key]):
                raise MCPError(types.INVALID_PARAMS, "The answer does not fit the form")
    return answers


def ask_later(
    session: Any, item: Json, arguments: Json, state: str | None, responses: Mapping[str, Any] | None
) -> Json | types.InputRequiredResult:
    """All answers, or the next questions. A stateful item stores earlier answers in its state."""
    answers: Json = json.loads(state) if state else {}
    for key, answer in (responses or {}).items():
        if any(key in questions for questions in item["rounds"]):
            answers[key] = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    for questions in filled(item["rounds"], arguments):
        missing = {
            key: question
            for key, question in questions.items()
            if key not in answers or not fits(question, answers[key])
        }
        # A choosy item needs only one answer.
        if missing and not (item.get("choosy") and len(missing) < len(questions)):
            earlier = json.dumps(answers) if item.get("stateful") else None
            result = {"inputRequests": askable(session, item, missing), "requestState": earlier}
            return types.InputRequiredResult.model_validate(result)
    return answers
