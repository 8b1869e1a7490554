"""The result of a tool as a value of the caller's type."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import msgspec

from assay.model.client_error import InvalidAnswer
from assay.model.result import ToolResult

T = TypeVar("T")


def as_type(result: ToolResult, expected: type[T], tool: str) -> T:
    """The structured content, or else the text, as this type.

    Raises:
        InvalidAnswer: it does not fit.
    """
    value = result.structured
    if value is None:
        if expected is str:
            return cast(T, result.text)
        value = _parsed(result.text, expected, tool)
    # Servers wrap what is not an object, since some revisions only have objects.
    is_wrapped = isinstance(value, dict) and list(value) == ["result"]
    problem = ""
    for candidate in (value, value["result"]) if is_wrapped else (value,):
        try:
            return _convert(candidate, expected)
        except (msgspec.ValidationError, ValueError) as error:
            problem = problem or str(error)
    raise _misfit(tool, expected, problem)


def _parsed(text: str, expected: type[Any], tool: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        problem = "it has no structured content, and its text is not JSON"
        raise _misfit(tool, expected, problem) from None


def _convert(value: Any, expected: type[T]) -> T:
    validate = getattr(expected, "model_validate", None)  # a pydantic model, without importing pydantic
    return cast(T, validate(value)) if validate is not None else msgspec.convert(value, expected)


def _misfit(tool: str, expected: Any, problem: str) -> InvalidAnswer:
    name = getattr(expected, "__name__", str(expected))
    return InvalidAnswer(f"the result of tool {tool} is not a {name}: {problem}")
