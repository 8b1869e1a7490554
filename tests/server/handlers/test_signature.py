"""From a function's signature to its input schema and typed arguments."""

from __future__ import annotations

import dataclasses
import enum
from typing import Annotated, Any, Literal, Optional, TypedDict

import attrs
import msgspec
import pydantic
import pytest

from assay import Context, RegistrationError, Scope, Server
from assay.server.handlers.signature import read_signature
from tests.server.scripted import call


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Place(TypedDict):
    city: str


@attrs.define
class Size:
    width: float


class Stop(msgspec.Struct):
    name: str
    at: Point


class Inner(pydantic.BaseModel):
    value: int


class Outer(pydantic.BaseModel):
    inner: Inner
    label: str = pydantic.Field(default="none", description="What it is called")


class Pair(pydantic.BaseModel):
    first: Inner
    second: Inner


def schema(function: Any, **options: Any) -> Any:
    server = Server("test")
    server.tools.add(function, **options)
    return server.tools.list()[0].input_schema


def properties(function: Any) -> Any:
    return schema(function)["properties"]


def test_parameters_become_properties_and_those_without_default_are_required() -> None:
    def tool(a: int, b: str, c: float = 1.5, d: bool = False) -> None: ...

    assert schema(tool) == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "string"},
            "c": {"type": "number", "default": 1.5},
            "d": {"type": "boolean", "default": False},
        },
        "required": ["a", "b"],
        "additionalProperties": False,
    }


def test_no_parameters_is_an_empty_object() -> None:
    def tool() -> None: ...

    assert schema(tool) == {"type": "object", "properties": {}, "additionalProperties": False}


def test_keyword_only_parameters_count() -> None:
    def tool(*, a: int, b: int = 2) -> None: ...

    assert schema(tool) == {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}},
        "required": ["a"],
        "additionalProperties": False,
    }


def test_context_is_not_an_argument() -> None:
    def tool(a: int, anything: Context) -> None: ...

    assert list(properties(tool)) == ["a"]


def test_context_may_be_optional() -> None:
    def tool(ctx: Context | None = None) -> None: ...

    assert properties(tool) == {}


def test_parameter_without_annotation_accepts_anything() -> None:
    def tool(a, b=1):  # type: ignore[no-untyped-def]
        ...

    assert properties(tool) == {"a": {}, "b": {"default": 1}}


def test_types_of_json() -> None:
    def tool(
        literal: Literal["a", "b"],
        union: int | str,
        optional: Optional[int],  # noqa: UP045 - users write it
        many: list[int],
        table: dict[str, float],
        pair: tuple[int, str],
        anything: Any,
    ) -> None: ...

    assert properties(tool) == {
        "literal": {"type": "string", "enum": ["a", "b"]},
        "union": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "optional": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "many": {"type": "array", "items": {"type": "integer"}},
        "table": {"type": "object", "additionalProperties": {"type": "number"}},
        "pair": {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "items": False,
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
        },
        "anything": {},
    }


def test_types_used_once_are_inline_and_others_under_defs() -> None:
    def tool(point: Point, others: list[Point], color: Color = Color.RED) -> None: ...

    assert schema(tool) == {
        "type": "object",
        "properties": {
            "point": {"$ref": "#/$defs/Point"},
            "others": {"type": "array", "items": {"$ref": "#/$defs/Point"}},
            "color": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        },
        "required": ["point", "others"],
        "additionalProperties": False,
        "$defs": {
            "Point": {
                "title": "Point",
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
                "required": ["x"],
            },
        },
    }


def test_definitions_of_pydantic_models_are_at_the_root() -> None:
    """Their references start from the root."""

    def tool(pair: Pair) -> None: ...

    tool_schema = schema(tool)
    assert tool_schema["$defs"]["Inner"]["properties"] == {"value": {"type": "integer"}}
    assert tool_schema["properties"]["pair"]["properties"]["first"] == {"$ref": "#/$defs/Inner"}


@pytest.mark.parametrize(
    "metadata", ["How many", msgspec.Meta(description="How many"), pydantic.Field(description="How many")]
)
def test_description_comes_from_annotated(metadata: Any) -> None:
    def tool(a): ...  # type: ignore[no-untyped-def]

    tool.__annotations__["a"] = Annotated[int, metadata]
    assert properties(tool) == {"a": {"type": "integer", "description": "How many"}}


def test_description_comes_from_the_docstring() -> None:
    def tool(a: int, b: int = 1) -> None:
        """Add.

        Args:
            a: The first
            b: The second
        """

    assert properties(tool) == {
        "a": {"type": "integer", "description": "The first"},
        "b": {"type": "integer", "description": "The second", "default": 1},
    }


def test_annotated_description_wins_over_the_docstring() -> None:
    def tool(a: Annotated[int, "annotated"]) -> None:
        """Add.

        Args:
            a: documented
        """

    assert properties(tool)["a"]["description"] == "annotated"


def test_constraints_of_annotated_are_kept() -> None:
    def tool(a: Annotated[int, msgspec.Meta(ge=1, le=9)]) -> None: ...

    assert properties(tool) == {"a": {"type": "integer", "minimum": 1, "maximum": 9}}


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def tool(a, /): ...", "positional-only"),
        ("def tool(*args): ...", r"\*args"),
        ("def tool(**kwargs): ...", r"\*\*kwargs"),
    ],
)
def test_parameter_that_cannot_be_passed_by_name_is_refused(source: str, kind: str) -> None:
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    with pytest.raises(RegistrationError, match=f"tool: .*{kind}"):
        schema(namespace["tool"])


def test_annotation_that_cannot_be_resolved_is_refused() -> None:
    def tool(a: NoSuchType) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(RegistrationError, match="NoSuchType"):
        schema(tool)


class Opaque: ...


def test_type_without_json_schema_is_refused() -> None:
    def tool(a: Opaque) -> None: ...

    with pytest.raises(RegistrationError, match="Opaque"):
        schema(tool)


@pytest.mark.parametrize("marker", [bytearray(b"a"), [1], {"a": [1]}, {1}])
async def test_mutable_default_is_fresh_for_every_call(marker: Any) -> None:
    captured = []

    async def tool(a=marker) -> None:  # type: ignore[no-untyped-def]
        captured.append(a)

    server = Server("test")
    server.tools.add(tool)
    await call(server, "tool")
    await call(server, "tool")
    assert (captured, captured[0] is captured[1], captured[0] is marker) == ([marker, marker], False, False)


def takes(annotation: Any) -> tuple[Server, list[Any]]:
    captured: list[Any] = []

    async def tool(value) -> None:  # type: ignore[no-untyped-def]
        captured.append(value)

    tool.__annotations__["value"] = annotation
    server = Server("test")
    server.tools.add(tool)
    return server, captured


@pytest.mark.parametrize(
    ("annotation", "argument", "value"),
    [
        (int, 3, 3),
        (float, 3, 3.0),
        (Color, "blue", Color.BLUE),
        (Point, {"x": 1}, Point(1, 0)),
        (Place, {"city": "Rome"}, {"city": "Rome"}),
        (Size, {"width": 2}, Size(2.0)),
        (Stop, {"name": "a", "at": {"x": 1, "y": 2}}, Stop("a", Point(1, 2))),
        (Outer, {"inner": {"value": 1}}, Outer(inner=Inner(value=1))),
        (list[Outer], [{"inner": {"value": 1}}], [Outer(inner=Inner(value=1))]),
        (Outer | None, None, None),
        (dict[str, Point], {"a": {"x": 1}}, {"a": Point(1)}),
        (set[int], [1, 1], {1}),
        (Any, {"a": [1, None]}, {"a": [1, None]}),
    ],
)
async def test_argument_reaches_the_function_as_its_type(annotation: Any, argument: Any, value: Any) -> None:
    server, captured = takes(annotation)
    assert await call(server, "tool", {"value": argument}) == {"content": []}
    assert (captured, type(captured[0])) == ([value], type(value))


@pytest.mark.parametrize(
    ("annotation", "argument"),
    [
        (int, "3"),
        (int, 3.5),
        (int, None),
        (int, True),
        (str, 3),
        (Literal["a"], "b"),
        (Color, "green"),
        (Point, {"y": 1}),
        (Place, {}),
        (Size, {"width": "wide"}),
        (Outer, {"inner": {"value": "x"}}),
        (list[int], {"a": 1}),
        (Annotated[int, msgspec.Meta(ge=1)], 0),
    ],
)
async def test_argument_of_another_type_never_reaches_the_function(annotation: Any, argument: Any) -> None:
    server, captured = takes(annotation)
    result = await call(server, "tool", {"value": argument})
    assert (result["isError"], captured) == (True, [])


@pytest.mark.parametrize("arguments", [{}, {"value": 1, "more": 2}, {"Value": 1}])
async def test_missing_and_unknown_arguments_are_refused(arguments: dict[str, Any]) -> None:
    server, captured = takes(int)
    result = await call(server, "tool", arguments)
    assert (result["isError"], captured) == (True, [])


async def test_bound_method_is_a_tool() -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        async def add(self, by: int) -> int:
            """Count."""
            self.count += by
            return self.count

    server = Server("test")
    server.tools.add(Counter().add)
    assert (await call(server, "add", {"by": 2}))["structuredContent"] == {"result": 2}


class Callable_:
    async def __call__(self, by: int) -> int:
        return by


async def test_object_that_is_called_is_a_tool() -> None:
    server = Server("test")
    server.tools.add(Callable_(), name="object")
    assert (await call(server, "object", {"by": 2}))["structuredContent"] == {"result": 2}


@pytest.mark.parametrize(
    "annotation",
    [
        Context,
        Context[int],
        Context[int, Scope],
        Context | None,
        Context[int] | None,
        Annotated[Context[int], "of it"],
    ],
)
def test_context_is_recognised_in_every_form(annotation: Any) -> None:
    async def handler(ctx: Any) -> None: ...

    handler.__annotations__["ctx"] = annotation
    signature = read_signature(handler)
    assert (signature.context_name, signature.context_type, signature.parameters) == ("ctx", Context, ())
