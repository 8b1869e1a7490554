"""JSON Schema from Python types."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from assay.model.error import RegistrationError

from .custom_type import describe_custom
from .problem import type_name
from .schema_detail import add_details
from .schema_form import REFERENCE, tidy

if TYPE_CHECKING:
    from .pydantic_adapter import PydanticAdapter


def schema_of(annotation: Any) -> dict[str, Any]:
    """The schema of a type, with its root inlined, and under `$defs` what is used more than once.

    Raises:
        RegistrationError: the type has no JSON Schema.
    """
    try:
        (root,), definitions = msgspec.json.schema_components(
            [annotation], schema_hook=describe_custom, ref_template=REFERENCE + "{name}"
        )
    except (TypeError, NotImplementedError, RuntimeError) as error:
        raise RegistrationError(f"no JSON Schema for {type_name(annotation)}: {error}") from None
    add_details(root, definitions, annotation)
    orders = {tuple(sorted(order, key=str)): order for order in _declared_orders(annotation, set())}
    return tidy(root, definitions, orders)


def written_schema(adapter: PydanticAdapter) -> dict[str, Any]:
    """The schema of values that pydantic writes."""
    return tidy(adapter.schema("serialization"), {}, {})


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
