"""Elicitation forms: given schemas are unchanged, types are reduced to what forms support."""

import enum
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

import attrs
import msgspec
import pydantic
import pytest

from assay import AskError, RegistrationError
from assay.revisions.registry import HANDSHAKE
from assay.server.calls.form import Form

TITLED = [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Order:
    name: Annotated[str, msgspec.Meta(title="Name", description="Who orders")]
    color: Color
    size: Literal["small", "large"]
    extras: list[Color] = field(default_factory=list)
    count: int = 1
    price: float = 1.5
    gift: bool = False
    note: str | None = None
    lining: Color | None = None


def ready_made(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": []}


@pytest.mark.parametrize(
    "schema",
    [
        ready_made(),
        ready_made(a={"type": "string", "title": "A", "default": "x", "minLength": 1, "format": "email"}),
        ready_made(
            a={"type": "integer", "minimum": 0, "default": 0}, b={"type": "boolean", "default": False}
        ),
        ready_made(a={"type": "string", "enum": ["x", "y"], "enumNames": ["X", "Y"], "default": "y"}),
        ready_made(a={"type": "string", "oneOf": TITLED, "title": "Color"}),
        ready_made(a={"type": "array", "items": {"anyOf": TITLED}, "minItems": 1, "default": ["r"]}),
        ready_made(a={"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "maxItems": 2}),
        {**ready_made(a={"type": "string"}), "required": ["a"], "title": "Form", "description": "All of it"},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **ready_made(a={"type": "number"})},
        {"type": "object", "properties": {"a": {"type": "string"}}},
    ],
)
def test_given_schema_is_sent_unchanged(schema: dict[str, Any]) -> None:
    """SEP-1034 and SEP-1330 rely on keywords that must be preserved."""
    encoded = msgspec.json.encode(schema)
    assert msgspec.json.encode(Form(schema).schema) == encoded
    assert msgspec.json.encode(schema) == encoded


def test_a_type_becomes_simple_fields_in_declared_order() -> None:
    schema = Form(Order).schema
    choices = [schema["properties"]["color"], schema["properties"]["extras"]["items"]]
    for choice in (*choices, schema["properties"]["lining"], schema["properties"]["size"]):
        choice["enum"].sort()
    assert schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name", "description": "Who orders"},
            "color": {"type": "string", "enum": ["blue", "red"]},
            "size": {"type": "string", "enum": ["large", "small"]},
            "extras": {"type": "array", "items": {"type": "string", "enum": ["blue", "red"]}},
            "count": {"type": "integer", "default": 1},
            "price": {"type": "number", "default": 1.5},
            "gift": {"type": "boolean", "default": False},
            "note": {"type": "string"},
            "lining": {"type": "string", "enum": ["blue", "red"]},
        },
        "required": ["name", "color", "size"],
    }
    assert list(schema["properties"]) == list(Order.__dataclass_fields__)


def test_an_answer_becomes_an_instance_of_the_type() -> None:
    answer = {"name": "Ann", "color": "red", "size": "small", "extras": ["blue"]}
    assert Form(Order).read(answer) == Order("Ann", Color.RED, "small", [Color.BLUE])


class Typed(TypedDict):
    name: str


@attrs.define
class Attrs:
    name: str


class Struct(msgspec.Struct):
    name: str


class Model(pydantic.BaseModel):
    name: str
    nick: str | None = None


@pytest.mark.parametrize("kind", [Typed, Attrs, Struct, Model])
def test_every_kind_of_class_describes_and_reads_a_form(kind: type[Any]) -> None:
    form = Form(kind)
    assert form.schema["properties"]["name"]["type"] == "string"
    assert form.schema["required"] == ["name"]
    assert form.read({"name": "Ann"}) == kind(name="Ann")


class Picky(pydantic.BaseModel):
    name: str

    @pydantic.field_validator("name")
    @classmethod
    def refuse(cls, name: str) -> str:
        raise ValueError("no name is good enough")


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        (ready_made(a={"type": "integer"}), {"a": "one"}),
        ({**ready_made(a={"type": "integer"}), "required": ["a"]}, None),
        (ready_made(a={"type": "string", "oneOf": TITLED}), {"a": "green"}),
        (ready_made(a={"type": "array", "items": {"anyOf": TITLED}}), {"a": ["green"]}),
        (Order, {"name": "Ann", "color": "green", "size": "small"}),
        (Order, {"name": "Ann", "color": "red", "size": "small", "note": None}),
        (Picky, {"name": "Ann"}),
    ],
)
def test_invalid_answer_is_refused(source: Any, answer: dict[str, Any] | None) -> None:
    form = Form(source)
    with pytest.raises(AskError, match="does not fit the form"):
        form.read(answer)


def test_answer_to_a_given_schema_is_a_dict() -> None:
    assert Form(ready_made(a={"type": "integer"})).read({"a": 1}) == {"a": 1}
    assert Form(ready_made(a={"type": "integer"})).read(None) == {}


@dataclass
class Nested:
    order: Order


@dataclass
class Numbered:
    level: Literal[1, 2]


@dataclass
class Mixed:
    either: int | str


@dataclass
class Listing:
    names: list[str]


@pytest.mark.parametrize(
    "source",
    [
        Nested,
        Numbered,
        Mixed,
        Listing,
        list[str],
        dict[str, str],
        Literal[1, 2],
        int | str,
        {},
        {"type": "object"},
        {"properties": {"a": {"type": "string"}}},
        {"type": "array", "items": {"type": "string"}},
        ready_made(a={"type": "object", "properties": {}}),
        ready_made(a={"type": "array", "items": {"type": "string"}}),
        ready_made(a={"$ref": "#/$defs/a"}),
    ],
)
def test_unsupported_fields_are_refused(source: Any) -> None:
    with pytest.raises(RegistrationError, match="elicitation"):
        Form(source)


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
def test_multiple_choice_needs_a_revision_with_it(revision: Any) -> None:
    form = Form(ready_made(a={"type": "array", "items": {"anyOf": TITLED}}))
    if revision.multi_select:
        assert form.schema_for(revision) is form.schema
    else:
        with pytest.raises(AskError, match="multi-select: field a"):
            form.schema_for(revision)


def one_field(**field: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"value": field}, "required": ["value"]}


RED_OR_BLUE = {"type": "string", "enum": ["red", "blue"]}
A_OR_B = {"type": "string", "enum": ["a", "b"]}
TITLES = {"r": {"title": "Red"}, "b": {"title": "Blue"}}
SINGLE = [
    (str, {"type": "string"}, "Ann", "Ann"),
    (int, {"type": "integer"}, 3, 3),
    (float, {"type": "number"}, 2.5, 2.5),
    (bool, {"type": "boolean"}, False, False),
    (Annotated[int, msgspec.Meta(ge=1, le=5)], {"type": "integer", "minimum": 1, "maximum": 5}, 4, 4),
    (Color, RED_OR_BLUE, "red", Color.RED),
    (list[Color], {"type": "array", "items": RED_OR_BLUE}, ["red"], [Color.RED]),
    (Literal["a", "b"], A_OR_B, "b", "b"),
    (list[Literal["a", "b"]], {"type": "array", "items": A_OR_B}, ["b"], ["b"]),
    (["a", "b"], A_OR_B, "b", "b"),
    (("a", "b"), A_OR_B, "b", "b"),
    ([["a", "b"]], {"type": "array", "items": A_OR_B}, ["a", "b"], ["a", "b"]),
    (TITLES, {"type": "string", "oneOf": TITLED}, "b", "b"),
    ([TITLES], {"type": "array", "items": {"anyOf": TITLED}}, ["r"], ["r"]),
]


@pytest.mark.parametrize(("source", "field", "answer", "value"), SINGLE)
def test_one_value_is_a_form_with_one_field(source: Any, field: Any, answer: Any, value: Any) -> None:
    form = Form(source)
    properties = form.schema["properties"]["value"]
    properties.pop("title", None)
    assert form.schema == one_field(**field)
    assert form.read({"value": answer}) == value
    for bad in ({"value": {}}, {}, None):
        with pytest.raises(AskError, match="does not fit the form"):
            form.read(bad)


def test_optional_value_may_be_left_out() -> None:
    form = Form(str | None)
    assert form.schema == {**one_field(type="string"), "required": []}
    assert form.read({}) is None
    assert form.read({"value": "a"}) == "a"


def test_one_value_can_have_a_title_and_a_description() -> None:
    field = Form(bool, title="Sure?", description="This cannot be undone").schema["properties"]["value"]
    assert field == {"type": "boolean", "title": "Sure?", "description": "This cannot be undone"}
    with pytest.raises(RegistrationError, match="put them on its fields"):
        Form(Order, title="Order")


@pytest.mark.parametrize("revision", [each for each in HANDSHAKE if "form" in each.elicitation], ids=str)
def test_titles_of_choices_are_written_as_the_revision_has_them(revision: Any) -> None:
    form = Form(TITLES, title="Color")
    names = {"type": "string", "title": "Color", "enum": ["r", "b"], "enumNames": ["Red", "Blue"]}
    titled = {"type": "string", "title": "Color", "oneOf": TITLED}
    assert form.schema_for(revision) == one_field(**(titled if revision.multi_select else names))
    assert form.read({"value": "r"}) == "r"


@pytest.mark.parametrize("source", [None, "yes or no?", 3, [], ["a", 1], [["a"], ["b"]], True])
def test_what_is_no_type_names_the_usage(source: Any) -> None:
    with pytest.raises(RegistrationError, match=r"not the type of an answer: write ctx.elicit\(message, "):
        Form(source)
