"""Types that pydantic reads and writes: how strictly, in which words, and beside classes of msgspec."""

from __future__ import annotations

import dataclasses
import datetime
import typing
from typing import Annotated, Any, Generic, TypeVar

import attrs
import msgspec
import pydantic
import pytest
import typing_extensions
from pydantic import BaseModel, ConfigDict, Field, HttpUrl, SecretStr, WithJsonSchema, computed_field

from assay import Server
from tests.server.scripted import ask, call


class Leaf(BaseModel):
    value: int
    at: datetime.datetime | None = None


class Branch(BaseModel):
    leaves: list[Leaf]


class Stop(msgspec.Struct):
    name: Annotated[str, msgspec.Meta(min_length=2)]


@attrs.define
class Size:
    width: int


class Place(typing.TypedDict):
    city: str


T = TypeVar("T")


def takes(annotation: Any) -> tuple[Server, list[Any]]:
    server, received = Server("test"), []

    async def note(value) -> None:  # type: ignore[no-untyped-def]
        received.append(value)

    note.__annotations__["value"] = annotation
    server.tools.add(note, name="take")
    return server, received


async def refusal(annotation: Any, value: Any) -> str:
    server, received = takes(annotation)
    result = await call(server, "take", {"value": value})
    assert (result.get("isError"), received) == (True, [])
    text: str = result["content"][0]["text"]
    return text.removeprefix("invalid arguments for tool take: ")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"leaves": [{"value": "3"}]}, "Input should be a valid integer - at `$.value.leaves[0].value`"),
        ({"leaves": [{}]}, "Field required - at `$.value.leaves[0].value`"),
        ({}, "Field required - at `$.value.leaves`"),
        ([], "Input should be an object - at `$.value`"),
    ],
)
async def test_refusal_names_the_rule_and_the_place(value: Any, text: str) -> None:
    assert await refusal(Branch, value) == text


async def test_refusal_names_at_most_three_problems() -> None:
    text = await refusal(Branch, {"leaves": [{}] * 50})
    assert text.count(" - at ") == 3 and text.endswith("; and 47 more")


async def test_refusal_of_a_value_with_many_problems_names_the_first() -> None:
    """pydantic would list them all, which takes seconds and hundreds of megabytes."""
    for count in (200, 50_000):
        text = await refusal(Branch, {"leaves": [{}] * count})
        assert text == '"value" is a required property - at `$.value.leaves[0]`'


async def test_refusal_of_a_union_names_places_in_the_value_only() -> None:
    text = await refusal(Leaf | int, {"value": "x"})
    assert "`$.value.value`" in text and "Leaf" not in text


@pytest.mark.parametrize("value", [{"value": 3}, {"value": 3.0}, {"value": 3, "at": "2026-07-28"}])
async def test_value_that_fits_the_schema_is_accepted_if_pydantic_can_convert_it(value: Any) -> None:
    server, received = takes(Leaf)
    await call(server, "take", {"value": value})
    assert received[0].value == 3


@pytest.mark.parametrize("value", [{"value": "3"}, {"value": True}, {"value": 3, "at": 5}])
async def test_value_that_does_not_fit_the_schema_is_refused_though_pydantic_could(
    value: Any,
) -> None:
    assert await refusal(Leaf, value)


class Lenient(BaseModel):
    model_config = ConfigDict(strict=False)
    count: Annotated[int, WithJsonSchema({"type": ["integer", "string"]}, mode="validation")]


async def test_model_that_declares_more_in_its_schema_accepts_more() -> None:
    server, received = takes(Lenient)
    await call(server, "take", {"value": {"count": "3"}})
    assert received == [Lenient(count=3)]


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (Stop | Leaf, {"name": "ab"}, {"name": "a"}),
        (list[Size | HttpUrl], [{"width": 1}], [{"width": "1"}]),
        (Place | HttpUrl, {"city": "Rome"}, {"city": 1}),
        (dict[str, Stop | Leaf], {"a": {"value": 1}}, {"a": {}}),
    ],
)
async def test_classes_of_msgspec_and_attrs_stand_beside_pydantic_types(
    annotation: Any, good: Any, bad: Any
) -> None:
    server, received = takes(annotation)
    await call(server, "take", {"value": good})
    assert len(received) == 1
    assert await refusal(annotation, bad)


async def test_constraint_of_msgspec_holds_in_a_type_that_pydantic_reads() -> None:
    annotation = list[Annotated[str, msgspec.Meta(max_length=3)] | Leaf]
    server, received = takes(annotation)
    await call(server, "take", {"value": ["abc"]})
    assert received == [["abc"]]
    assert "at most 3 characters" in await refusal(annotation, ["abcd"])


@dataclasses.dataclass
class Limited:
    count: Annotated[int, Field(gt=0)]


class Order(typing_extensions.TypedDict):
    item: Limited


class Crate(msgspec.Struct, Generic[T]):
    item: T


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (Order | HttpUrl, {"item": {"count": 1}}, {"item": {"count": 0}}),
        (Crate[Annotated[int, Field(gt=0)]], {"item": 1}, {"item": 0}),
        (list[Crate[HttpUrl]], [{"item": "https://example.com"}], [{"item": "x"}]),
    ],
)
async def test_constraint_deep_inside_holds(annotation: Any, good: Any, bad: Any) -> None:
    server, received = takes(annotation)
    await call(server, "take", {"value": good})
    assert len(received) == 1
    assert await refusal(annotation, bad)


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (pydantic.conint(ge=3), 3, 2),
        (pydantic.confloat(gt=0, allow_inf_nan=False), 0.5, 0),
        (pydantic.conbytes(min_length=2), "YWI=", "YQ=="),
        (pydantic.condecimal(max_digits=2), "12", "123"),
        (pydantic.condate(gt=datetime.date(2020, 1, 1)), "2021-01-01", "2019-01-01"),
        (list[pydantic.conint(ge=3)], [3], [2]),  # type: ignore[misc]
    ],
)
async def test_constraints_that_functions_of_pydantic_write_hold(
    annotation: Any, good: Any, bad: Any
) -> None:
    """They have None in their metadata, for each constraint that was left out."""
    server, received = takes(annotation)
    await call(server, "take", {"value": good})
    assert len(received) == 1
    assert await refusal(annotation, bad)


class Holder(msgspec.Struct):
    leaf: Leaf
    link: HttpUrl | None = None


async def test_pydantic_types_inside_a_struct_are_strict_too() -> None:
    server, received = takes(Holder)
    await call(server, "take", {"value": {"leaf": {"value": 1}, "link": "https://example.com"}})
    assert received == [Holder(Leaf(value=1), HttpUrl("https://example.com"))]
    text = await refusal(Holder, {"leaf": {"value": "1"}})
    assert text == "value: Input should be a valid integer - at `$.value.leaf`"


async def test_pattern_that_pydantic_checks_takes_linear_time() -> None:
    annotation = list[Annotated[str, Field(pattern=r"^(a+)+$", strict=True)]]
    assert "should match pattern" in await refusal(annotation, ["a" * 60 + "b"])


async def test_failing_validator_is_an_internal_error() -> None:
    def broken(value: int) -> int:
        raise KeyError(value)

    server, received = takes(Annotated[int, pydantic.AfterValidator(broken)])
    answer = await ask(server, "tools/call", name="take", arguments={"value": 3})
    assert (answer["error"]["code"], received) == (-32603, [])


class Box(BaseModel, Generic[T]):
    item: T


class Article(BaseModel):
    price: float = 1
    name: str = Field(default="hat", serialization_alias="fullName", validation_alias="full_name")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def tax(self) -> float:
        return self.price / 5


def gives(annotation: Any, value: Any) -> Server:
    server = Server("test")

    async def give_value():  # type: ignore[no-untyped-def]
        return value

    give_value.__annotations__["return"] = annotation
    server.tools.add(give_value, name="give")
    return server


@pytest.mark.parametrize(
    ("annotation", "value", "structured"),
    [
        (Annotated[int, Field(ge=0)], 3, {"result": 3}),
        (HttpUrl, "https://example.com", {"result": "https://example.com/"}),
        (
            list[Leaf],
            [Leaf(value=1), {"value": 2}],
            {"result": [{"value": 1, "at": None}, {"value": 2, "at": None}]},
        ),
        (Leaf | None, None, {"result": None}),
        (Article, Article(), {"price": 1.0, "fullName": "hat", "tax": 0.2}),
        (Box[int], Box(item=1), {"item": 1}),
        (SecretStr, SecretStr("hidden"), {"result": "**********"}),
        (Stop | Leaf, Stop("ab"), {"result": {"name": "ab"}}),
        (datetime.datetime | datetime.date, datetime.date(2026, 7, 28), {"result": "2026-07-28"}),
    ],
)
async def test_return_value_is_written_by_its_type(annotation: Any, value: Any, structured: Any) -> None:
    assert (await call(gives(annotation, value), "give"))["structuredContent"] == structured


def changed() -> Leaf:
    leaf = Leaf(value=1)
    leaf.value = "one"  # type: ignore[assignment]
    return leaf


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Annotated[int, Field(ge=0)], -1),
        (HttpUrl, "no url"),
        (list[Leaf], [{"value": "x"}]),
        (Leaf, changed()),
        (Leaf | None, 3),
    ],
)
async def test_return_value_of_another_type_is_refused(
    annotation: Any, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    result = await call(gives(annotation, value), "give")
    assert result["isError"] is True
    assert "tool 'give' returned" in caplog.text
