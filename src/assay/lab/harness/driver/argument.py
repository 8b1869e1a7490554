"""Arguments for a tool or prompt, derived from its definition: small, plain and deterministic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .guess import NOTHING_KNOWN, Guess
from .known_values import KnownValues
from .plausible import plausible_texts

MOST_EXAMPLES: Final = 3
"""Of a whole set of arguments, in the schema of a tool."""


def arguments_for(tool: dict[str, Any]) -> dict[str, Any]:
    """The required arguments of a tool, with values that its schema should accept."""
    return _filled(tool, Guess(tool))


def candidates(tool: dict[str, Any], known: KnownValues = NOTHING_KNOWN) -> list[dict[str, Any]]:
    """Several sets of arguments, the likeliest to work first."""
    schema = tool.get("inputSchema")
    examples = schema.get("examples") if isinstance(schema, dict) else None
    whole = [each for each in (examples if isinstance(examples, list) else []) if isinstance(each, dict)]
    guesses = [_filled(tool, Guess(tool, known, variant=variant)) for variant in range(3)]
    guesses.insert(1, _filled(tool, Guess(tool, known, optional=True)))
    distinct: list[dict[str, Any]] = []
    for arguments in (*whole[:MOST_EXAMPLES], *guesses):
        if arguments not in distinct:
            distinct.append(arguments)
    return distinct


def _filled(tool: dict[str, Any], guess: Guess) -> dict[str, Any]:
    schema = tool.get("inputSchema")
    usual = (
        {key: part for key, part in schema.items() if key != "examples"} if isinstance(schema, dict) else None
    )
    arguments = guess.value(usual)
    return arguments if isinstance(arguments, dict) else {}


def invalid_arguments(tool: dict[str, Any], valid: dict[str, Any] | None = None) -> Iterator[dict[str, Any]]:
    """Arguments that the tool's schema rejects, with one fault each: a required argument is missing, has a
    wrong type, or is not one of the enumerated values. Values that a server might coerce are not tried, nor
    arguments that are mirrored in a header."""
    valid = arguments_for(tool) if valid is None else valid
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    required = schema.get("required") if isinstance(schema, dict) else None
    for name in [name for name in valid if isinstance(required, list) and name in required][:1]:
        yield {key: value for key, value in valid.items() if key != name}
    plain = {
        name: part
        for name, part in (properties if isinstance(properties, dict) else {}).items()
        if isinstance(part, dict) and "x-mcp-header" not in part
    }
    for name in [name for name, part in plain.items() if part.get("type") in _SCALARS][:1]:
        yield {**valid, name: {"of": "the lab"}}
    for name in [name for name, part in plain.items() if _is_string_enum(part)][:1]:
        yield {**valid, name: "not-offered-by-the-schema"}


def _is_string_enum(schema: dict[str, Any]) -> bool:
    values = schema.get("enum")
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def prompt_arguments(prompt: dict[str, Any]) -> dict[str, str]:
    """The required arguments of a prompt, by their names and descriptions."""
    return {
        argument["name"]: plausible_texts(argument["name"], _text(argument.get("description")), None)[0]
        for argument in _required(prompt)
    }


def required_names(prompt: dict[str, Any]) -> list[str]:
    return [argument["name"] for argument in _required(prompt)]


def _required(prompt: dict[str, Any]) -> list[dict[str, Any]]:
    arguments = prompt.get("arguments")
    return [
        argument
        for argument in (arguments if isinstance(arguments, list) else [])
        if isinstance(argument, dict)
        and argument.get("required") is True
        and isinstance(argument.get("name"), str)
    ]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def value_for(schema: Any) -> Any:
    """A value for a schema: one that it names, else a minimal value of its type."""
    return Guess({"inputSchema": schema}).value(schema)


_SCALARS: Final = ("string", "integer", "number", "boolean")
