"""Shapes of messages, judged by the official types (`mcp-types`), not by ours.

The types accept `null` for optional fields and the schemas do not, so accepted values are searched for nulls.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any, Final, get_args

from assay.lab.harness.verdict import Observation, observe
from assay.revisions.revision import Revision, TaskForm

from .message import Message, Shape
from .trace import Exchange, Trace

_MOST_PROBLEMS: Final = 3
"""Problems of one message that are spelled out."""
_RESULT_TYPES: Final = {"InputRequiredResult": "input_required"}


@cache
def _official() -> ModuleType:
    # The import takes half a second because of pydantic.
    from mcp_types import methods

    return methods


@cache
def _adapter(form: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(form)


def prepare() -> None:
    """Load the types now: a later import would block the event loop while replies are due."""
    _official()


def result_problem(method: str, result: Any, revision: Revision) -> str | None:
    """How a result of a method violates its schema; None if it fits or the method is unknown."""
    form = _official().SERVER_RESULTS.get((method, revision.date))
    return None if form is None else _problem(_narrowed(form, result), result)


def _narrowed(form: Any, result: Any) -> Any:
    """The member of a union that `resultType` selects. Nearly any object fits `InputRequiredResult`, whose
    fields are all optional. Result types of extensions are validated against the whole union."""
    result_type = result.get("resultType") if isinstance(result, dict) else None
    members = [
        member for member in get_args(form) if _RESULT_TYPES.get(member.__name__, "complete") == result_type
    ]
    return members[0] if members else form


def server_message_problem(message: Message, revision: Revision) -> str | None:
    """How a request or notification of a server violates its schema."""
    form = _forms("SERVER", message).get((message.method, revision.date))
    return None if form is None else _problem(form, message.value)


def driver_request_problem(message: Message, revision: Revision) -> str | None:
    """How a request of a client violates its schema. Null for an optional field is accepted: a server may
    treat it as left out."""
    form = _official().CLIENT_REQUESTS.get((message.method, revision.date))
    return None if form is None else _problem(form, message.value, nulls=False)


def client_message_problem(message: Message, revision: Revision) -> str | None:
    """How a request or notification of a client under test violates its schema."""
    form = _forms("CLIENT", message).get((message.method, revision.date))
    return None if form is None else _problem(form, message.value)


def client_result_problem(method: str, result: Any, revision: Revision) -> str | None:
    """How a client's result of a method violates its schema."""
    form = _official().CLIENT_RESULTS.get((method, revision.date))
    return None if form is None else _problem(form, result)


def is_client_message(message: Message, revision: Revision) -> bool:
    """Whether the revision defines this request or notification for clients."""
    return (message.method, revision.date) in _forms("CLIENT", message)


def is_server_message(message: Message, revision: Revision) -> bool:
    """Whether the revision defines this request or notification for servers."""
    return (message.method, revision.date) in _forms("SERVER", message)


def _forms(sender: str, message: Message) -> dict[tuple[str, str], Any]:
    kind = "REQUESTS" if message.shape is Shape.REQUEST else "NOTIFICATIONS"
    forms: dict[tuple[str, str], Any] = getattr(_official(), f"{sender}_{kind}")
    return forms


def _problem(form: Any, value: Any, *, nulls: bool = True) -> str | None:
    from pydantic import ValidationError

    try:
        model = _adapter(form).validate_python(value, by_name=False)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        return _summary(
            [f"{'.'.join(map(str, each['loc'])) or 'message'}: {each['msg']}" for each in details]
        )
    places = _nulls(model, "") if nulls else ()
    return _summary([f"{path}: null, but an optional field must be omitted" for path in places])


def _nulls(value: Any, path: str) -> Iterator[str]:
    """Paths of optional fields that are null instead of omitted.

    Untyped values (`structuredContent`, `_meta`) are dictionaries here and may contain nulls.
    """
    from pydantic import BaseModel

    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from _nulls(item, f"{path}{place}.")
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            if name not in value.model_fields_set:
                continue
            member, member_path = getattr(value, name), f"{path}{field.alias or name}"
            if member is None and not field.is_required() and Any not in get_args(field.annotation):
                yield member_path
            yield from _nulls(member, f"{member_path}.")


def _summary(problems: list[str]) -> str | None:
    more = f" (and {len(problems) - _MOST_PROBLEMS} more)" if len(problems) > _MOST_PROBLEMS else ""
    return "; ".join(problems[:_MOST_PROBLEMS]) + more or None


def observed_shapes(row: str, trace: Trace) -> Iterator[Observation]:
    """One observation for each message of the subject whose type is known."""
    for exchange in trace.exchanges():
        if exchange.result is not None:
            problem = _result_problem(exchange, trace.revision)
            expected = f"a result of {exchange.method} that fits its schema"
            yield observe(row, problem is None, exchange, expected=expected, observed=problem)
    for message in trace.received:
        if message.shape in (Shape.REQUEST, Shape.NOTIFICATION) and is_server_message(
            message, trace.revision
        ):
            problem = server_message_problem(message, trace.revision)
            expected = f"a {message.shape.value} {message.method} that fits its schema"
            yield observe(row, problem is None, message, expected=expected, observed=problem)


def _result_problem(exchange: Exchange, revision: Revision) -> str | None:
    result = exchange.answer.fields.get("result") if exchange.answer is not None else None
    if not isinstance(result, dict):
        return f"{result!r}, which is not an object"
    if revision.tasks is TaskForm.CORE and "task" in exchange.params and "task" in result:
        from mcp_types import CreateTaskResult

        return _problem(CreateTaskResult, result)
    return result_problem(exchange.method, result, revision)
