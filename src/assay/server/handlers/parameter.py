"""One parameter of a handler: its name on the wire, its type, its default, and what clients read about it."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, get_args, get_origin

from assay.protocol.http.parameter_header import KEYWORD
from assay.server.types.metadata import REQUIRED, is_field_info, plain_items, read_details

from .header import Header

MUTABLE: Final = (list, dict, set, bytearray)


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    annotation: Any
    default: Any
    description: str | None
    header: str | None = None
    """The HTTP header that repeats the value, in revisions with `x-mcp-header`."""
    alias: str | None = None
    """Its name on the wire, if that is another."""
    default_factory: Callable[[], Any] | None = None
    about: dict[str, Any] = field(default_factory=dict)
    """More arguments of `msgspec.Meta` for its schema: title, examples and so on."""
    has_field_default: bool = False
    """Whether the function's own default is a `Field`, so that it must never be called without a value."""

    @property
    def required(self) -> bool:
        return self.default is REQUIRED and self.default_factory is None

    @property
    def wire_name(self) -> str:
        return self.alias or self.name

    @property
    def fresh_default(self) -> Any:
        """The default for one call."""
        if self.default_factory is not None:
            return self.default_factory()
        return copy.deepcopy(self.default) if isinstance(self.default, MUTABLE) else self.default

    @property
    def more(self) -> dict[str, Any]:
        """Arguments of `msgspec.Meta` for its schema."""
        more = dict(self.about)
        if self.description:
            more["description"] = self.description
        if self.header is not None:
            more["extra_json_schema"] = {**more.get("extra_json_schema", {}), KEYWORD: self.header}
        return more


def read_parameter(parameter: inspect.Parameter, annotation: Any, documented: str | None) -> Parameter:
    """
    Raises:
        RegistrationError: something in its metadata is unknown or cannot be honoured.
    """
    base, items, default = annotation, [], parameter.default
    if get_origin(annotation) is Annotated:
        base, *items = get_args(annotation)
    if is_field_info(default):
        items, default = [*items, default], REQUIRED
    if not items:
        return Parameter(parameter.name, annotation, default, documented)
    details = read_details(items)
    limits = tuple(_limits(items, details.beyond))
    return Parameter(
        parameter.name,
        Annotated[(base, *limits)] if limits else base,
        details.default if default is REQUIRED else default,
        details.about.pop("description", None) or documented,
        details.header,
        details.alias,
        details.default_factory if default is REQUIRED else None,
        details.about,
        is_field_info(parameter.default),
    )


def _limits(items: list[Any], beyond: list[Any]) -> Iterator[Any]:
    """The metadata that limits values."""
    for item in items:
        if is_field_info(item) and item not in beyond:
            yield from plain_items([item])
        elif not isinstance(item, str | Header) and type(item).__name__ != "Doc":
            yield item
