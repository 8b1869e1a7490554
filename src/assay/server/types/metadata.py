"""The metadata of `Annotated` and pydantic's `Field`: constraints, description, default, other name.

Neither pydantic nor annotated_types is imported here: their objects can only exist if the author imported
them, and are recognised by their class.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from assay.model.error import RegistrationError
from assay.server.handlers.header import Header

BOUNDS: Final = ("gt", "ge", "lt", "le", "multiple_of")
LENGTHS: Final = ("min_length", "max_length")
CONSTRAINTS: Final = (*BOUNDS, *LENGTHS, "pattern", "tz")
ONLY_ABOUT: Final = frozenset({"Unit", "DocInfo"})
"""Classes of annotated_types that constrain nothing."""
REQUIRED: Final = inspect.Parameter.empty


@dataclass(slots=True)
class Details:
    """What the metadata of a type says."""

    constraints: dict[str, Any] = field(default_factory=dict)
    """Arguments for `msgspec.Meta` that limit values."""
    about: dict[str, Any] = field(default_factory=dict)
    """Arguments for `msgspec.Meta` that only describe: title, description, examples, more of the schema."""
    beyond: list[Any] = field(default_factory=list)
    """What only pydantic can check."""
    translated: bool = False
    """Whether something has to be written as `msgspec.Meta` first."""
    header: str | None = None
    alias: str | None = None
    default: Any = REQUIRED
    default_factory: Callable[[], Any] | None = None

    def limit(self, name: str, value: Any) -> None:
        self.constraints[name] = value
        self.translated = True


def is_field_info(item: Any) -> bool:
    fields = sys.modules.get("pydantic.fields")
    return fields is not None and isinstance(item, fields.FieldInfo)


def read_details(items: Iterable[Any]) -> Details:
    """
    Raises:
        RegistrationError: an item is unknown, so it might be a constraint that would not be checked.
    """
    details = Details()
    for item in items:
        reader = next((read for fits, read in READERS if fits(item)), _read_unknown)
        reader(item, details)
    return details


def plain_items(items: Iterable[Any]) -> Iterator[Any]:
    """The parts of a `Field`, a `Len`, a `StringConstraints` and so on, one by one."""
    for item in items:
        if is_field_info(item):
            yield from plain_items(item.metadata)
        elif getattr(item, "__is_annotated_types_grouped_metadata__", False):
            yield from plain_items(item)
        else:
            yield item


def _read_meta(item: msgspec.Meta, details: Details) -> None:
    for name, value, *_ in item.__rich_repr__():
        if name not in CONSTRAINTS:
            _describe(details, name, value)
        elif _contradicts(name, details.constraints):
            details.beyond.append(item)
        else:
            details.constraints[name] = value


def _contradicts(name: str, constraints: dict[str, Any]) -> bool:
    """Whether msgspec could not express both: it takes each limit once, and one limit on each side."""
    sides = ({"gt", "ge"}, {"lt", "le"})
    taken = next((side for side in sides if name in side), {name})
    return bool(taken & constraints.keys())


def _describe(details: Details, name: str, value: Any) -> None:
    if name in ("extra_json_schema", "extra"):
        value = {**details.about.get(name, {}), **value}
    details.about[name] = value


def _read_text(item: str, details: Details) -> None:
    details.about.setdefault("description", item)
    details.translated = True


def _read_header(item: Header, details: Details) -> None:
    details.header = item.name


def _read_doc(item: Any, details: Details) -> None:
    _read_text(item.documentation, details)


def _read_field(item: Any, details: Details) -> None:
    details.translated = True
    for name in ("title", "description", "examples"):
        if getattr(item, name) is not None:
            details.about[name] = getattr(item, name)
    if item.deprecated:
        _describe(details, "extra_json_schema", {"deprecated": True})
    if isinstance(item.json_schema_extra, dict):
        _describe(details, "extra_json_schema", item.json_schema_extra)
    elif item.json_schema_extra is not None or item.discriminator is not None:
        details.beyond.append(item)
    details.alias = _alias(item) or details.alias
    _read_default(item, details)
    for part in plain_items([item]):
        _read_constraint(part, details)


def _alias(item: Any) -> str | None:
    for alias in (item.validation_alias, item.alias):
        if alias is not None and not isinstance(alias, str):
            raise RegistrationError(
                f"{type(alias).__name__} names several places of a value; write alias='name'"
            )
    name: str | None = item.validation_alias or item.alias
    return name


def _read_default(item: Any, details: Details) -> None:
    if item.validate_default:
        raise RegistrationError("validate_default is not supported: defaults are not checked; leave it out")
    if item.default_factory is not None:
        if getattr(item, "default_factory_takes_validated_data", False):
            raise RegistrationError(
                "its default_factory takes the other values; write one without parameters, "
                "or compute the default in the function"
            )
        details.default_factory = item.default_factory
    elif not item.is_required():
        details.default = item.default


def _read_group(item: Any, details: Details) -> None:
    for part in plain_items([item]):
        _read_constraint(part, details)


def _read_constraint(item: Any, details: Details) -> None:
    """A constraint of annotated_types or pydantic, as one of msgspec's if it has the same."""
    limits = _limits(item)
    if type(item).__name__ in ONLY_ABOUT:
        return
    if limits is None or any(_contradicts(name, details.constraints) for name in limits):
        details.beyond.append(item)
        details.translated = True
        return
    for name, value in limits.items():
        details.limit(name, value)


def _limits(item: Any) -> dict[str, Any] | None:
    """The item as arguments of `msgspec.Meta`, if that has the same."""
    kind = type(item).__name__
    if kind in ("Gt", "Ge", "Lt", "Le", "MultipleOf", "MinLen", "MaxLen"):
        values = {name: getattr(item, name, None) for name in (*BOUNDS, *LENGTHS)}
        return {name: value for name, value in values.items() if value is not None}
    if kind == "Timezone":
        return _timezone(item.tz)
    values = getattr(item, "__dict__", {})
    if values.keys() == {"pattern"}:
        return _pattern(values["pattern"])
    return None


def _timezone(zone: Any) -> dict[str, Any]:
    if zone is None or zone is ...:
        return {"tz": zone is ...}
    raise RegistrationError(
        f"Timezone({zone!r}): one zone cannot be required; write Timezone(...) and convert the value"
    )


def _pattern(pattern: Any) -> dict[str, Any] | None:
    if isinstance(pattern, re.Pattern):
        return {"pattern": pattern.pattern} if pattern.flags == re.UNICODE else None
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        problem = f"pattern {pattern!r:.80} is not a regular expression: {error}"
        raise RegistrationError(f"{problem}; escape characters that stand for themselves") from None
    return {"pattern": pattern}


def _is_of(item: Any, library: str) -> bool:
    return any(cls.__module__.partition(".")[0] == library for cls in type(item).__mro__)


def _is_for_pydantic(item: Any) -> bool:
    hooks = ("__get_pydantic_core_schema__", "__get_pydantic_json_schema__")
    return _is_of(item, "pydantic") or any(hasattr(item, hook) for hook in hooks)


def _read_beyond(item: Any, details: Details) -> None:
    if "SkipValidation" in (type(item).__name__, getattr(item, "__name__", None)):
        raise RegistrationError("SkipValidation would accept what the schema forbids; write Any instead")
    details.beyond.append(item)
    details.translated = True


def _read_nothing(_: None, details: Details) -> None:
    """`conint` and its relatives write None for each constraint that was left out."""
    details.translated = True


def _read_unknown(item: Any, _: Details) -> None:
    name = item.__name__ if isinstance(item, type) else type(item).__name__
    raise RegistrationError(
        f"{name} in Annotated is unknown, so what it asks for would not be checked; "
        "write msgspec.Meta(…) or pydantic.Field(…), or leave it out"
    )


def _is_doc(item: Any) -> bool:
    return type(item).__name__ == "Doc" and isinstance(getattr(item, "documentation", None), str)


READERS: Final[tuple[tuple[Callable[[Any], bool], Callable[[Any, Details], None]], ...]] = (
    (lambda item: isinstance(item, msgspec.Meta), _read_meta),
    (lambda item: item is None, _read_nothing),
    (lambda item: isinstance(item, str), _read_text),
    (lambda item: isinstance(item, Header), _read_header),
    (is_field_info, _read_field),
    (lambda item: hasattr(item, "__is_annotated_types_grouped_metadata__"), _read_group),
    (lambda item: _is_of(item, "annotated_types"), _read_constraint),
    (_is_for_pydantic, _read_beyond),
    (_is_doc, _read_doc),
)
