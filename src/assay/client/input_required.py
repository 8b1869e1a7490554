"""Results that ask for input instead of answering."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from assay.model.client_error import InvalidAnswer
from assay.protocol.opening import declares_extension

TASKS: Final = "io.modelcontextprotocol/tasks"


class Question(Struct):
    method: str
    params: Raw | UnsetType = UNSET


class InputRequired(Struct, rename="camel"):
    """The common part of all results, with the questions of those that have them."""

    result_type: str = "complete"
    input_requests: dict[str, Question] = {}
    request_state: str | UnsetType = UNSET


_read_type: Final = msgspec.json.Decoder(InputRequired).decode


def may_be_task(method: str, params: Mapping[str, Any], declares_tasks: bool) -> bool:
    """Whether a request may be answered with a task: other requests, and clients that did not declare tasks,
    never are."""
    if method != "tools/call":
        return False
    return declares_tasks or ("_meta" in params and declares_extension(params["_meta"], TASKS))


def read_questions(
    raw: Raw, method: str, params: Mapping[str, Any], declares_tasks: bool
) -> InputRequired | None:
    """The questions in a result; None if it is complete, or a task where that may be.

    Raises:
        InvalidAnswer: it is neither.
    """
    try:
        result = _read_type(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidAnswer(f"the server's answer to {method} is invalid: {error}") from None
    if result.result_type == "complete":
        return None
    if result.result_type == "task" and may_be_task(method, params, declares_tasks):
        return None
    if result.result_type != "input_required":
        raise InvalidAnswer(f"the server answered {method} with an unknown type: {result.result_type}")
    return result
