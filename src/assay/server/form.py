"""Elicitation forms: a flat object with simple fields, to a JSON Schema and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from assay.model.error import AskError, RegistrationError
from assay.revisions.revision import Revision

from .pattern import without_patterns
from .prepared_type import Prepared
from .reading import json_decoder, prepare
from .schema import schema_of
from .validator import Validator

PRIMITIVES: Final = frozenset({"string", "number", "integer", "boolean"})


class Form:
    """The schema of a form, and how to read its answer. A given JSON Schema is sent exactly as it is.

    Raises:
        RegistrationError: the schema is not a flat object with simple fields, or a class has a pattern.
    """

    def __init__(self, source: type[Any] | Mapping[str, Any]) -> None:
        self._read: Callable[[Any], Any] | None = None
        if isinstance(source, type):
            prepared = prepare(source)
            self._read = _reader(prepared)
            self.schema = _describe(prepared.described)
        else:
            self.schema = dict(source)
        _check(self.schema)

    def check_for(self, revision: Revision) -> None:
        """Raise `AskError` for a form that the client's revision cannot show."""
        for name, field in self.schema["properties"].items():
            if field.get("type") == "array" and not revision.multi_select:
                raise AskError(f"the client's protocol revision has no multi-select: field {name}")

    def read(self, content: dict[str, Any] | None) -> Any:
        """Check an accepted answer against the schema and convert it to the form's type.

        Raises:
            AskError: it does not fit.
        """
        answer = content or {}
        problem = Validator(self.schema).problem(answer)
        if problem is not None:
            raise AskError(f"the client's answer does not fit the form: {problem}")
        if self._read is None:
            return answer
        try:
            return self._read(msgspec.json.encode(answer))
        except msgspec.ValidationError as error:
            raise AskError(f"the client's answer does not fit the form: {error}") from None


def _reader(prepared: Prepared) -> Callable[[Any], Any]:
    if prepared.by_pydantic is not None:
        return prepared.by_pydantic.read_json
    return json_decoder(without_patterns(prepared.annotation))


def _describe(source: Any) -> dict[str, Any]:
    schema = schema_of(source)
    definitions = schema.get("$defs", {})
    fields = {name: _plain(field, definitions) for name, field in schema.get("properties", {}).items()}
    return {"type": schema.get("type"), "properties": fields, "required": schema.get("required", [])}


def _plain(field: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Reduce a field to what forms support: no references, no null, and a type on every choice."""
    options = [option for option in field.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        # In a form, null is expressed by leaving the field out.
        field = {**options[0], **{key: value for key, value in field.items() if key != "anyOf"}}
    if "$ref" in field:
        target = definitions[field["$ref"].rpartition("/")[2]]
        untitled = {key: value for key, value in target.items() if key != "title"}
        field = {**untitled, **{key: value for key, value in field.items() if key != "$ref"}}
    if "items" in field:
        field = {**field, "items": _plain(field["items"], definitions)}
    if all(isinstance(choice, str) for choice in field.get("enum", [None])):
        field = {"type": "string", **field}
    return {key: value for key, value in field.items() if (key, value) != ("default", None)}


def _check(schema: dict[str, Any]) -> None:
    if schema.get("type") != "object" or "properties" not in schema:
        raise RegistrationError("an elicitation form must be an object with simple fields")
    for name, field in schema["properties"].items():
        kind = field.get("type")
        picks_several = kind == "array" and field.get("items", {}).keys() & {"enum", "anyOf"}
        picks_other = "enum" in field and kind != "string"
        if picks_other or (kind not in PRIMITIVES and not picks_several):
            raise RegistrationError(
                f"elicitation field {name} must be a string, number, integer, boolean or choice: {kind}"
            )
