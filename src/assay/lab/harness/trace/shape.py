"""Shapes of messages, judged by the official types (`mcp-types`) and not by ours.

The types take `null` for a field that may be left out; the schemas do not. So what they accept is looked
through once more for nulls.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any, Final, get_args

from assay.revisions.revision import Revision

from .message import Message, Shape

TOLD = 3
"""Complaints about one message that are written out."""


_SAYING: Final = {"InputRequiredResult": "input_required"}


@cache
def _official() -> ModuleType:
    # Half a second of pydantic: only for those who judge.
    from mcp_types import methods

    return methods


@cache
def _adapter(form: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(form)


def prepare() -> None:
    """Load the types now: later it would hold up whoever waits for an answer meanwhile."""
    _official()


def result_problem(method: str, result: Any, revision: Revision) -> str | None:
    """How a result of that method breaks its schema; none when it fits or the method is unknown."""
    form = _official().SERVER_RESULTS.get((method, revision.date))
    return None if form is None else _problem(_narrowed(form, result), result)


def _narrowed(form: Any, result: Any) -> Any:
    """Where a result may ask instead of answer, the form that it says it has: nearly anything fits the form
    of questions, whose members may all be left out. What an extension brings is measured by either."""
    says = result.get("resultType") if isinstance(result, dict) else None
    fitting = [one for one in get_args(form) if _SAYING.get(one.__name__, "complete") == says]
    return fitting[0] if fitting else form


def sent_problem(message: Message, revision: Revision) -> str | None:
    """The same for a request or notification of a server."""
    form = _forms("SERVER", message).get((message.method, revision.date))
    return None if form is None else _problem(form, message.value)


def asked_problem(message: Message, revision: Revision) -> str | None:
    """The same for a request of a client. Null for what may be left out is no problem here: a server that
    takes it as left out has not seen one."""
    form = _official().CLIENT_REQUESTS.get((message.method, revision.date))
    return None if form is None else _problem(form, message.value, nulls=False)


def client_problem(message: Message, revision: Revision) -> str | None:
    """The same for a request or notification of a client that is judged itself."""
    form = _forms("CLIENT", message).get((message.method, revision.date))
    return None if form is None else _problem(form, message.value)


def answer_problem(method: str, result: Any, revision: Revision) -> str | None:
    """The same for a client's result of that method."""
    form = _official().CLIENT_RESULTS.get((method, revision.date))
    return None if form is None else _problem(form, result)


def known_of_clients(message: Message, revision: Revision) -> bool:
    """Whether a client of that revision has such a request or notification."""
    return (message.method, revision.date) in _forms("CLIENT", message)


def knows(message: Message, revision: Revision) -> bool:
    """Whether a server of that revision has such a request or notification."""
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
        found = error.errors(include_url=False, include_context=False, include_input=False)
        return _told([f"{'.'.join(map(str, one['loc'])) or 'message'}: {one['msg']}" for one in found])
    places = _nulls(model, "") if nulls else ()
    return _told([f"{path}: null, where it must be left out" for path in places])


def _nulls(value: Any, path: str) -> Iterator[str]:
    """Where null was given for a field that may only be there or not.

    Values that have no form (`structuredContent`, `_meta`) are dictionaries here, and may hold any null.
    """
    from pydantic import BaseModel

    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from _nulls(item, f"{path}{place}.")
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            if name not in value.model_fields_set:
                continue
            given, at = getattr(value, name), f"{path}{field.alias or name}"
            if given is None and not field.is_required() and Any not in get_args(field.annotation):
                yield at
            yield from _nulls(given, f"{at}.")


def _told(complaints: list[str]) -> str | None:
    """The first complaints, as `path: message`."""
    more = f" (and {len(complaints) - TOLD} more)" if len(complaints) > TOLD else ""
    return "; ".join(complaints[:TOLD]) + more or None
