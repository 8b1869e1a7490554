"""JSON Schema: generated from Python types, and validation against a given schema.

msgspec handles dataclasses, TypedDicts, attrs classes and its own Structs. pydantic models describe and
validate themselves through the hooks below, so pydantic is never imported here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from assay.model.error import RegistrationError

_REFERENCE = "#/$defs/{name}"
BACKTRACKING = 100_000
"""Steps that a pattern with look-around or back-references may take for one string, about a millisecond; a
string that needs more does not fit. Other patterns take linear time."""


def schema_of(annotation: Any) -> dict[str, Any]:
    """The schema of a type, with its root inlined and everything else under `$defs`.

    Raises:
        RegistrationError: the type has no JSON Schema.
    """
    try:
        (root,), definitions = msgspec.json.schema_components(
            [annotation], schema_hook=_describe, ref_template=_REFERENCE
        )
    except (TypeError, NotImplementedError, RuntimeError) as error:
        raise RegistrationError(f"no JSON Schema for {_name(annotation)}: {error}") from None
    schema = _inline_root(root, definitions)
    orders = {tuple(sorted(order, key=str)): order for order in _declared_orders(annotation, set())}
    _restore_order(schema, orders)
    return schema


def _declared_orders(annotation: Any, visited: set[int]) -> Iterator[list[Any]]:
    """The values of every Literal and Enum in a type, in the order of their declaration."""
    if id(annotation) in visited:
        return
    visited.add(id(annotation))
    if get_origin(annotation) is Literal:
        yield list(get_args(annotation))
        return
    if inspect.isclass(annotation) and issubclass(annotation, Enum):
        yield [member.value for member in annotation]
    fields = _hints(annotation) if inspect.isclass(annotation) else ()
    for part in (*get_args(annotation), *fields):
        yield from _declared_orders(part, visited)


def _hints(annotation: type) -> Iterable[Any]:
    try:
        return get_type_hints(annotation).values()
    except (NameError, TypeError):
        return ()  # hints that cannot be resolved: keep msgspec's order


def _restore_order(node: Any, orders: dict[tuple[Any, ...], list[Any]]) -> None:
    """Restore the declared order of choices, which msgspec sorts."""
    if isinstance(node, dict):
        choices = node.get("enum")
        if isinstance(choices, list):
            node["enum"] = orders.get(tuple(sorted(choices, key=str)), choices)
        node = list(node.values())
    if isinstance(node, list):
        for value in node:
            _restore_order(value, orders)


def _inline_root(root: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    reference = root.get("$ref", "")
    name = reference.removeprefix("#/$defs/")
    if reference and name in definitions:
        root = definitions[name]
        if reference not in _references(definitions):
            definitions = {key: value for key, value in definitions.items() if key != name}
    schema = dict(root)
    hoisted = _hoist(schema) | {
        key: value for inner in definitions.values() for key, value in _hoist(inner).items()
    }
    if definitions or hoisted:
        schema["$defs"] = {**definitions, **hoisted}
    return schema


def _references(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(_references(value) for value in node.values()))
    if isinstance(node, list):
        return set().union(*(_references(value) for value in node))
    return set()


def _hoist(node: Any) -> dict[str, Any]:
    """Move `$defs` out of nested schemas: references start from the root."""
    definitions: dict[str, Any] = {}
    if isinstance(node, dict):
        inner = node.pop("$defs", None)
        if isinstance(inner, dict):
            definitions.update(inner)
        for value in [*node.values(), *definitions.values()]:
            definitions.update(_hoist(value))
    elif isinstance(node, list):
        for value in node:
            definitions.update(_hoist(value))
    return definitions


def _describe(annotation: type) -> dict[str, Any]:
    describe = getattr(annotation, "model_json_schema", None)
    if describe is None:
        raise NotImplementedError(f"{_name(annotation)} is not a JSON type")
    schema: dict[str, Any] = describe(ref_template="#/$defs/{model}")
    return schema


def read_custom(annotation: type, value: Any) -> Any:
    """msgspec's `dec_hook`: pydantic models validate themselves."""
    validate = getattr(annotation, "model_validate", None)
    if validate is None:
        raise NotImplementedError(f"{_name(annotation)} is not a JSON type")
    try:
        return validate(value)
    except ValueError as error:
        raise ValueError(_one_line(error)) from None


def json_decoder(annotation: Any) -> Callable[[Any], Any]:
    return msgspec.json.Decoder(annotation, dec_hook=read_custom).decode


def text_converter(annotation: Any) -> Callable[[Any], Any]:
    """Reads arguments that are strings on the wire. It is not strict, so that "3" becomes an int."""

    def convert(arguments: Any) -> Any:
        return msgspec.convert(arguments, annotation, strict=False, dec_hook=read_custom)

    return convert


def write_custom(value: Any) -> Any:
    """msgspec's `enc_hook`: pydantic models dump themselves; any mapping becomes an object."""
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise NotImplementedError(f"{_name(type(value))} is not a JSON type")
    return dump(mode="json", by_alias=True)


def _one_line(error: ValueError) -> str:
    """pydantic's errors without their links: `a.b: Field required; c: ...`."""
    errors = getattr(error, "errors", None)
    if errors is None:
        return str(error)
    problems = ((".".join(str(part) for part in problem["loc"]), problem["msg"]) for problem in errors())
    return "; ".join(f"{path}: {message}" if path else message for path, message in problems)


class Validator:
    """A compiled JSON Schema. jsonschema-rs is imported when the first one is created.

    References are resolved within the schema only: nothing is ever fetched.

    Raises:
        RegistrationError: the schema itself is invalid, or refers outside itself.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        import jsonschema_rs

        def refuse(uri: str) -> Any:
            raise ValueError(f"not fetched: {uri}")

        self._error = jsonschema_rs.ValidationError
        patterns = jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACKING)
        try:
            self._validator = jsonschema_rs.validator_for(
                dict(schema), retriever=refuse, pattern_options=patterns
            )
        except (ValueError, jsonschema_rs.ValidationError) as error:
            raise RegistrationError(f"invalid JSON Schema: {error}") from None

    def problem(self, value: Any) -> str | None:
        """Why a value is invalid, in one line; None if it is valid."""
        try:
            self._validator.validate(value)
        except self._error as error:
            path = "".join(
                f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path
            )
            return f"{error.message} - at `${path}`"
        return None


def _name(annotation: Any) -> str:
    return getattr(annotation, "__qualname__", None) or str(annotation)
