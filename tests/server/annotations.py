"""Annotations, with values that they allow and values that they forbid.

`test_annotations.py` runs Assay on every row. `interop.types_table` runs fastmcp on the same rows, in an
environment of its own: what that lacks is imported with a guard.
"""
# ruff: noqa: F401 - the rows name the imported types

import collections
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import pathlib
import re
import typing
import uuid
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypeVar, Union

import attrs
import pydantic
import typing_extensions
from annotated_types import Ge, Gt, Interval, Len, MaxLen, MinLen, MultipleOf, Predicate, Timezone
from pydantic import (
    UUID4,
    AfterValidator,
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    BeforeValidator,
    ByteSize,
    Field,
    HttpUrl,
    Json,
    NonNegativeInt,
    PastDate,
    PositiveInt,
    SecretStr,
    Strict,
    StringConstraints,
    conlist,
)

try:
    import msgspec
except ImportError:  # in the environment of fastmcp
    msgspec = None  # type: ignore[assignment]


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


@dataclasses.dataclass
class Limited:
    count: Annotated[int, Field(gt=0)]
    path: pathlib.Path = pathlib.Path()


@dataclasses.dataclass
class WithFieldDefault:
    count: int = Field(default=3, gt=0)


@dataclasses.dataclass
class Event:
    at: datetime.datetime


class Place(typing.TypedDict):
    city: typing.Required[str]
    zone: typing.NotRequired[int]


class LimitedPlace(typing_extensions.TypedDict):
    city: Annotated[str, MinLen(2)]
    zone: typing_extensions.NotRequired[int]


class Pair(NamedTuple):
    left: int
    right: str = ""


@attrs.define
class Size:
    width: float = attrs.field(validator=attrs.validators.ge(0))


class Offer(pydantic.BaseModel):
    name: str
    price: Annotated[float, Field(ge=0)] = 0
    at: datetime.datetime | None = None


class Closed(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    from_: str = Field(alias="from")


class Node(pydantic.BaseModel):
    name: str
    children: list["Node"] = []


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    name: str


T = TypeVar("T")


class Box(pydantic.BaseModel, Generic[T]):
    item: T


@pydantic.dataclasses.dataclass
class Checked:
    count: int = Field(gt=0)


UserId = NewType("UserId", int)
Age = typing_extensions.TypeAliasType("Age", Annotated[int, Field(ge=0, le=150)])
Tree = typing_extensions.TypeAliasType("Tree", "dict[str, Tree] | list[Tree] | int | str | None")


def even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


def split(value: Any) -> Any:
    return value.split(",") if isinstance(value, str) else value


if msgspec is not None:

    class Stop(msgspec.Struct):
        name: Annotated[str, msgspec.Meta(min_length=1)]
        offer: Offer | None = None

    class Circle(msgspec.Struct, tag="circle"):
        radius: float

    class Square(msgspec.Struct, tag="square"):
        side: float


MISSING = "(missing)"
"""In `good` and `bad`: a call without the argument."""


@dataclasses.dataclass(frozen=True)
class Row:
    """
    Args:
        source: The annotation, as an author writes it.
        good: Values that it allows.
        bad: Values that it forbids.
        default: The parameter's default, as an author writes it.
        name: The parameter's name on the wire.
    """

    source: str
    good: Sequence[Any]
    bad: Sequence[Any]
    default: str | None = None
    name: str = "value"

    @property
    def title(self) -> str:
        return self.source if self.default is None else f"{self.source} = {self.default}"

    def annotation(self) -> Any:
        """
        Raises:
            NameError: the row needs a library that is not installed.
        """
        return eval(self.source, globals())

    def function(self, received: list[Any]) -> Any:
        """A tool with one parameter, which notes what it receives."""
        annotation = self.annotation()

        async def take(value):  # type: ignore[no-untyped-def]
            received.append(value)

        take.__annotations__ = {"value": annotation}
        if self.default is not None:
            take.__defaults__ = (eval(self.default, globals()),)
        return take


WHEN = "2026-07-28T10:00:00"
RANDOM = "7a0c9f3e-8f6b-4d7e-9a55-0c3f3f1d2e4b"

PLAIN = [
    Row("int", [3, -1, 0], ["3", 3.5, True, None, [], {}]),
    Row("float", [3, 3.5], ["3.5", True, None]),
    Row("str", ["", "a"], [3, None, ["a"]]),
    Row("bool", [True, False], [1, 0, "true", "yes"]),
    Row("None", [None], [0, ""]),
    Row("Any", [1, None, {"a": []}], []),
    Row("object", [1, None, {"a": []}], []),
    Row("bytes", ["YQ=="], ["@", 3]),
    Row("list", [[1, "a"]], [{}, "a"]),
    Row("list[int]", [[], [1]], [["1"], {}, 1]),
    Row("set[str]", [["a"]], [[1], "a"]),
    Row("frozenset[int]", [[1]], [["1"]]),
    Row("tuple[int, str]", [[1, "a"]], [[1], [1, "a", 2], ["a", 1]]),
    Row("tuple[int, ...]", [[], [1, 2]], [["a"]]),
    Row("dict[str, float]", [{"a": 1}], [{"a": "1"}, []]),
    Row("dict[int, str]", [{"1": "a"}], [{"a": "a"}, {"1": 1}]),
    Row("Sequence[int]", [[1]], [["a"], 1]),
    Row("Iterable[int]", [[1], []], [["a"], 1]),
    Row("AbstractSet[int]", [[1]], [["a"]]),
    Row("Mapping[str, int]", [{"a": 1}], [{"a": "b"}, []]),
    Row("collections.deque[int]", [[1]], [["a"], 1]),
    Row("collections.OrderedDict[str, int]", [{"a": 1}], [{"a": "b"}]),
    Row("Optional[int]", [1, None], ["1"]),
    Row("int | str", [1, "a"], [1.5, None]),
    Row("Union[int, list[int]]", [1, [1]], ["a", ["a"]]),
    Row("Literal['a', 'b']", ["a"], ["c", 1]),
    Row("Literal[1, 'a', None]", [1, "a", None], [2, "b", True]),
    Row("Literal[True]", [True], [False, 1]),
    Row("Color", ["red"], ["green", "RED", 1]),
    Row("Level", [1], [3, "1"]),
    Row("Literal[Color.RED]", ["red"], ["blue"]),
    Row("UserId", [1], ["1"]),
]
TIMES = [
    Row("datetime.datetime", [WHEN, WHEN + "Z", "2026-07-28", "2026-07-28T10:00"], ["now", 3, "2026-13-01"]),
    Row("datetime.date", ["2026-07-28"], ["2026-07-28T10:00:00", "28.7.2026", 3]),
    Row("datetime.time", ["10:00:00", "10:00"], ["25:00:00", 3]),
    Row("datetime.timedelta", ["PT1H"], ["an hour"]),
    Row("datetime.datetime | datetime.date", [WHEN, "2026-07-28"], ["today", 3]),
    Row("datetime.datetime | None", [WHEN, "2026-07-28", None], ["today"]),
    Row("Annotated[datetime.datetime, Timezone(...)]", [WHEN + "Z"], [WHEN]),
    Row("AwareDatetime", [WHEN + "Z"], [WHEN, 3]),
    Row("PastDate", ["1999-01-01"], ["2999-01-01"]),
    Row("Annotated[datetime.date, Ge(datetime.date(2026, 1, 1))]", ["2026-01-01"], ["2025-12-31"]),
    Row("Event", [{"at": WHEN}, {"at": "2026-07-28"}], [{"at": "today"}, {"at": 3}]),
]
TEXTS = [
    Row("uuid.UUID", [RANDOM], ["x", 3]),
    Row("UUID4", [RANDOM], ["7a0c9f3e-8f6b-1d7e-9a55-0c3f3f1d2e4b"]),
    Row("decimal.Decimal", ["1.50", 1.5, 2], ["a", True]),
    Row("Annotated[decimal.Decimal, Field(max_digits=3, decimal_places=1)]", ["1.5"], ["1.55", "1234"]),
    Row("Annotated[decimal.Decimal, Gt(0)]", ["0.5", 1], ["0", -1]),
    Row("Fraction", ["1/3"], ["a"]),
    Row("complex", ["1+2j"], ["a"]),
    Row("AnyUrl", ["https://example.com", "mcp://a/b"], ["no url", 3]),
    Row("HttpUrl", ["https://example.com"], ["ftp://example.com", "x", 3]),
    Row("HttpUrl | None", ["https://example.com", None], ["x"]),
    Row("list[HttpUrl]", [["https://example.com"]], [["x"]]),
    Row("pathlib.Path", ["a/b", ""], [3, None]),
    Row("pathlib.Path | None", ["a", None], [3]),
    Row("list[pathlib.Path]", [["a"]], [[1]]),
    Row("pathlib.Path | int", ["a", 1], [1.5]),
    Row("ipaddress.IPv4Address", ["127.0.0.1"], ["1.2.3", "::1", 3]),
    Row("ipaddress.IPv6Address", ["::1"], ["127.0.0.1"]),
    Row("ipaddress.IPv4Network", ["10.0.0.0/8"], ["10.0.0.1/8", "x"]),
    Row("ipaddress.IPv4Address | ipaddress.IPv6Address", ["127.0.0.1", "::1"], ["x", 3]),
    Row("re.Pattern[str]", ["a+"], ["(", 3]),
    Row("SecretStr", ["a"], [3]),
    Row("Base64Bytes", ["YQ=="], ["YQ"]),
    Row("Json[list[int]]", ["[1]"], ["[", '["a"]', [1]]),
    Row("ByteSize", ["1KB", 5], ["much"]),
]
CONSTRAINTS = [
    Row("Annotated[int, Field(ge=1, le=100)]", [1, 100], [0, 101, 5000, "5"]),
    Row("Annotated[int | None, Field(gt=0)]", [1, None], [0]),
    Row("Annotated[int | float, Field(lt=1)]", [0, 0.5], [1, 1.0, "0"]),
    Row("Annotated[float, Interval(ge=0, lt=1)]", [0, 0.5], [1, -0.1]),
    Row("Annotated[int, MultipleOf(5)]", [10], [11]),
    Row("Annotated[PositiveInt, Field(ge=5)]", [5], [4, 0]),
    Row("NonNegativeInt", [0], [-1]),
    Row("Annotated[str, Field(min_length=2, max_length=3)]", ["ab"], ["a", "abcd"]),
    Row("Annotated[str, MinLen(1), MaxLen(2)]", ["a"], ["", "abc"]),
    Row("Annotated[str, Field(pattern='^[a-z]+$')]", ["ab"], ["AB", "a1"]),
    Row("Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]", [" a "], ["  "]),
    Row("Annotated[str, Predicate(str.islower)]", ["a"], ["A"]),
    Row("Annotated[list[int], Len(1, 2)]", [[1]], [[], [1, 2, 3]]),
    Row("conlist(int, min_length=1)", [[1]], [[]]),
    Row("list[Annotated[int, Field(gt=0)]]", [[1]], [[0], ["1"]]),
    Row("dict[str, Annotated[str, MaxLen(2)]]", [{"a": "b"}], [{"a": "bbb"}]),
    Row("dict[Annotated[str, MinLen(2)], int]", [{"ab": 1}], [{"a": 1}]),
    Row("set[Annotated[int, Ge(0)]] | None", [[1], None], [[-1]]),
    Row("Annotated[int, AfterValidator(even)]", [2], [3]),
    Row(
        "Annotated[list[str], BeforeValidator(split, json_schema_input_type=str | list[str])]",
        [["a"], "a,b"],
        [3],
    ),
    Row("Annotated[int, Strict()]", [3], ["3", 3.0]),
    Row("Annotated[int, 'How many']", [3], ["3"]),
    Row("Annotated[int, Field(description='How many', examples=[3])]", [3], ["3"]),
    Row("Annotated[int, Field(json_schema_extra={'x-unit': 'm'})]", [3], ["3"]),
    Row("int", [3, MISSING], ["3", None], default="Field(default=3)"),
    Row("int", [3, MISSING], [0], default="Field(3, ge=1, description='Most')"),
    Row("list[int]", [[1], MISSING], [["a"]], default="Field(default_factory=list)"),
    Row("str", ["a"], [3, MISSING], default="Field(alias='from')", name="from"),
    Row("Annotated[int, Field(default=3)]", [4, MISSING], ["4"]),
    Row("pathlib.Path", ["a", MISSING], [3], default="pathlib.Path('.')"),
    Row("Age", [30], [-1, 151, "30"]),
    Row("list[Age]", [[30]], [[151]]),
    Row("Annotated[UserId, Ge(1)]", [1], [0]),
]
CLASSES = [
    Row("Point", [{"x": 1}, {"x": 1, "y": 2}], [{}, {"x": "1"}, [1, 2]]),
    Row("list[Point]", [[{"x": 1}]], [[{}]]),
    Row("Limited", [{"count": 1}, {"count": 1, "path": "a"}], [{"count": 0}, {"count": 1, "path": 3}]),
    Row("WithFieldDefault", [{}, {"count": 1}], [{"count": 0}]),
    Row(
        "Place",
        [{"city": "Rome"}, {"city": "Rome", "zone": 1}],
        [{}, {"city": 1}, {"city": "a", "zone": ""}],
    ),
    Row("LimitedPlace", [{"city": "Rome"}], [{"city": "R"}, {}]),
    Row("Pair", [[1, "a"], [1]], [["a"], {}, []]),
    Row("Size", [{"width": 2}], [{"width": "2"}, {"width": -1}, {}]),
    Row(
        "Stop",
        [{"name": "a"}, {"name": "a", "offer": {"name": "b"}}],
        [{"name": ""}, {"name": "a", "offer": {}}],
    ),
    Row("Circle | Square", [{"type": "circle", "radius": 1}], [{"type": "circle", "side": 1}, {"radius": 1}]),
    Row("Stop | Offer | int", [{"name": "a"}, 1], [{"name": 1}, "a"]),
    Row("Annotated[int, msgspec.Meta(ge=1)]", [1], [0]),
    Row("Annotated[int | HttpUrl, msgspec.Meta(description='Where')]", [1, "https://example.com"], ["x"]),
    Row(
        "Offer",
        [{"name": "a"}, {"name": "a", "at": "2026-07-28"}],
        [{}, {"name": 1}, {"name": "a", "price": -1}],
    ),
    Row("Offer | None", [{"name": "a"}, None], [{}]),
    Row("list[Offer]", [[{"name": "a"}]], [[{}]]),
    Row("Offer | int", [{"name": "a"}, 1], ["1", {"name": 1}, True]),
    Row("Offer | Point", [{"name": "a"}, {"x": 1}], [{}, {"x": "1"}]),
    Row("Closed", [{"from": "a"}], [{"from_": "a"}, {"from": "a", "more": 1}]),
    Row("Node", [{"name": "a", "children": [{"name": "b"}]}], [{"name": "a", "children": [{}]}]),
    Row("Box[int]", [{"item": 1}], [{"item": "a"}, {}]),
    Row("Checked", [{"count": 1}], [{"count": 0}, {}]),
    Row("Cat | Dog", [{"kind": "cat", "lives": 9}], [{"kind": "cat"}, {"kind": "bird"}]),
    Row(
        "Annotated[Cat | Dog, Field(discriminator='kind')]",
        [{"kind": "dog", "name": "a"}],
        [{"kind": "bird"}, {}],
    ),
    Row("Tree", [{"a": [1, "b", None]}, 1], [1.5, {"a": [1.5]}]),
]
SECTIONS = {
    "Plain types": PLAIN,
    "Dates and times": TIMES,
    "Strings with a meaning": TEXTS,
    "Constraints, descriptions and defaults": CONSTRAINTS,
    "Classes": CLASSES,
}
ROWS = [row for rows in SECTIONS.values() for row in rows]
