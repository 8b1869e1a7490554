"""Elicitation forms: a flat object with simple fields, to a JSON Schema and back.

A question for one value is a form with one field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from assay.model.error import AskError, RegistrationError
from assay.revisions.revision import Revision
from assay.server.types.pattern import without_patterns
from assay.server.types.prepared_type import Prepared
from assay.server.types.reading import json_decoder, prepare
from assay.server.types.schema import schema_of
from assay.server.types.validator import Validator

PRIMITIVES: Final = frozenset({"string", "number", "integer", "boolean"})
VALUE: Final = "value"
"""The name of the only field of a form that asks for one value."""
NULL: Final = {"type": "null"}
USAGE: Final = (
    "write ctx.elicit(message, bool) to confirm, or another type, a list of choices or a JSON Schema"
)


class Form:
    """The schema of a form, and how to read its answer. A given JSON Schema is sent exactly as it is.

    Args:
        source: A class with fields, the type of one value, choices (`["yes", "no"]`; several of them:
            `[["a", "b"]]`; with titles: `{"y": {"title": "Yes"}}`), or a JSON Schema.
        title: The label of the only field, if the form asks for one value.
        description: Its description.

    Raises:
        RegistrationError: a field is not simple, or a class has a pattern.
    """

    def __init__(self, source: Any, *, title: str | None = None, description: str | None = None) -> None:
        self._read: Callable[[Any], Any] | None = None
        """Reads an answer into the type of the form; None if that is a JSON Schema or choices."""
        self._is_single = False
        """Whether the form has one field, whose value is the answer."""
        choice = _choice(source)
        if choice is not None:
            self._ask_for_one(choice, required=True)
        elif isinstance(source, Mapping):
            self.schema = dict(source)
        else:
            self._describe(source)
        if title is not None or description is not None:
            self._label({"title": title, "description": description})
        _check(self.schema)

    def _describe(self, source: Any) -> None:
        prepared = _prepare(source)
        self._read = _reader(prepared)
        schema = schema_of(prepared.described)
        definitions = schema.get("$defs", {})
        if "properties" in schema:
            fields = {name: _plain(field, definitions) for name, field in schema["properties"].items()}
            self.schema = _object(fields, schema.get("required", []))
        else:
            self._ask_for_one(_plain(schema, definitions), required=NULL not in schema.get("anyOf", ()))

    def _ask_for_one(self, field: dict[str, Any], *, required: bool) -> None:
        self._is_single = True
        self.schema = _object({VALUE: field}, [VALUE] if required else [])

    def _label(self, labels: dict[str, str | None]) -> None:
        if not self._is_single:
            raise RegistrationError(
                "elicitation: a title and a description are for one value; in a form, put them on its fields"
            )
        self.schema["properties"][VALUE] |= {name: text for name, text in labels.items() if text is not None}

    def schema_for(self, revision: Revision) -> dict[str, Any]:
        """The schema in a form that the client's revision knows.

        Raises:
            AskError: it has none.
        """
        properties = self.schema["properties"]
        for name, field in properties.items():
            if field.get("type") == "array" and not revision.multi_select:
                raise AskError(f"the client's protocol revision has no multi-select: field {name}")
        if revision.multi_select or self._read is not None or not self._is_single:
            return self.schema
        return {**self.schema, "properties": {VALUE: _with_names(properties[VALUE])}}

    def read(self, content: dict[str, Any] | None) -> Any:
        """Check an accepted answer against the schema and convert it to the form's type.

        Raises:
            AskError: it does not fit.
        """
        answer: Any = content or {}
        problem = Validator(self.schema).problem(answer)
        if problem is not None:
            raise AskError(f"the client's answer does not fit the form: {problem}")
        if self._is_single:
            answer = answer.get(VALUE)
        if self._read is None:
            return answer
        try:
            return self._read(msgspec.json.encode(answer))
        except msgspec.ValidationError as error:
            raise AskError(f"the client's answer does not fit the form: {error}") from None


def _prepare(source: Any) -> Prepared:
    if source is None or isinstance(source, str | bytes | int | float | list | tuple):
        raise RegistrationError(f"elicitation: {source!r:.60} is not the type of an answer: {USAGE}")
    return prepare(source)


def _reader(prepared: Prepared) -> Callable[[Any], Any]:
    if prepared.by_pydantic is not None:
        return prepared.by_pydantic.read_json
    return json_decoder(without_patterns(prepared.annotation))


def _choice(source: Any) -> dict[str, Any] | None:
    """The field for choices; None if the source is something else."""
    if isinstance(source, list | tuple) and len(source) == 1 and not isinstance(source[0], str):
        items = _choice(source[0])
        if items is None:
            return None
        return {"type": "array", "items": {"anyOf": items["oneOf"]} if "oneOf" in items else items}
    if _has_titles(source):
        choices = [{"const": value, "title": labels["title"]} for value, labels in source.items()]
        return {"type": "string", "oneOf": choices}
    if isinstance(source, list | tuple) and source and all(isinstance(value, str) for value in source):
        return {"type": "string", "enum": list(source)}
    return None


def _has_titles(source: Any) -> bool:
    if not isinstance(source, Mapping) or not source:
        return False
    return all(isinstance(labels, Mapping) and labels.keys() == {"title"} for labels in source.values())


def _with_names(field: dict[str, Any]) -> dict[str, Any]:
    """Choices with titles as revisions before multi-select write them."""
    if "oneOf" not in field:
        return field
    rest = {key: value for key, value in field.items() if key != "oneOf"}
    names = [choice["title"] for choice in field["oneOf"]]
    return {**rest, "enum": [choice["const"] for choice in field["oneOf"]], "enumNames": names}


def _object(fields: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": required}


def _plain(field: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Reduce a field to what forms support: no references, no null, and a type on every choice."""
    field = {key: value for key, value in field.items() if key != "$defs"}
    options = [option for option in field.get("anyOf", ()) if option != NULL]
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
        is_choice = "enum" in field or "const" in field
        if (kind not in PRIMITIVES or (is_choice and kind != "string")) and not picks_several:
            raise RegistrationError(
                f"elicitation field {name} must be a str, int, float, bool, or a choice of strings"
                f" (Literal or Enum; several as list[Literal[...]]), not {_described(field)}"
            )


def _described(field: dict[str, Any]) -> str:
    choices = field.get("enum")
    if choices is not None:
        return f"a choice of {type(choices[0]).__name__}"
    return str(field.get("type") or "a union or a nested type")
