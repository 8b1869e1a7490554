"""Elicitation forms: a flat object of plain fields, as a JSON Schema and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from assay.model.error import AskError, RegistrationError
from assay.revisions.revision import Revision

from .schema import Validator, schema_of

PRIMITIVES: Final = frozenset({"string", "number", "integer", "boolean"})


class Form:
    """The question and the way to read its answer.

    Raises:
        RegistrationError: the schema is not a flat object of plain fields.
    """

    def __init__(self, source: type[Any] | Mapping[str, Any]) -> None:
        self._type = source if isinstance(source, type) else None
        schema = schema_of(source) if isinstance(source, type) else dict(source)
        self.schema = _inline(schema)
        _check(self.schema)

    def check_for(self, revision: Revision) -> None:
        """Refuse a form that the client's revision cannot show."""
        for name, field in self.schema["properties"].items():
            if field.get("type") == "array" and not revision.multi_select:
                raise AskError(f"the client's protocol revision has no multi-select: field {name}")

    def read(self, content: dict[str, Any] | None) -> Any:
        """The accepted answer, checked against what was asked.

        Raises:
            AskError: it does not fit.
        """
        problem = Validator(self.schema).problem(content or {})
        if problem is not None:
            raise AskError(f"the client's answer does not fit the form: {problem}")
        if self._type is None:
            return content or {}
        return msgspec.convert(content or {}, self._type)


def _inline(schema: dict[str, Any]) -> dict[str, Any]:
    """Definitions put where they are used: forms have no `$defs`."""
    definitions = schema.get("$defs", {})
    fields = {}
    for name, field in schema.get("properties", {}).items():
        target = definitions.get(str(field.get("$ref", "")).rpartition("/")[2], {})
        fields[name] = {
            key: value for key, value in {**target, **field}.items() if key not in ("$ref", "title")
        }
        if "title" in field:
            fields[name]["title"] = field["title"]
        if "enum" in fields[name]:
            fields[name].setdefault("type", "string")
    form: dict[str, Any] = {"type": schema.get("type", "object"), "properties": fields}
    if "required" in schema:
        form["required"] = schema["required"]
    return form


def _check(schema: dict[str, Any]) -> None:
    if schema["type"] != "object":
        raise RegistrationError("an elicitation form must be an object with plain fields")
    for name, field in schema["properties"].items():
        kind = field.get("type")
        picks_several = kind == "array" and field.get("items", {}).keys() & {"enum", "anyOf"}
        if kind not in PRIMITIVES and not picks_several:
            raise RegistrationError(
                f"elicitation field {name} must be a string, number, integer, boolean or choice: {kind}"
            )
