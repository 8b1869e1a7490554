"""Types that cannot be read, and constraints that could not be checked: refused at registration."""

from __future__ import annotations

import dataclasses
import datetime
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypedDict, TypeVar

import annotated_types
import attrs
import msgspec
import pydantic
import pytest
from pydantic import AliasChoices, Field

from assay import RegistrationError, Server
from assay.server.types.problem import LONGEST
from tests.server.scripted import call


class Opaque: ...


class LimitedStruct(msgspec.Struct):
    count: Annotated[int, Field(gt=0)]


class StructWithFieldDefault(msgspec.Struct):
    count: int = Field(default=1, gt=0)


@attrs.define
class LimitedAttrs:
    count: Annotated[int, annotated_types.Gt(0)]


@dataclasses.dataclass
class Mixed:
    count: Annotated[int, Field(gt=0)]
    size: Annotated[int, msgspec.Meta(gt=0)]


@dataclasses.dataclass
class Late:
    items: Iterable[int]
    count: Annotated[int, Field(gt=0)] = 1


class LimitedPlace(TypedDict):
    city: Annotated[str, Field(min_length=2)]


@pydantic.dataclasses.dataclass
class Checked:
    count: int = Field(gt=0)


class StructOfChecked(msgspec.Struct):
    checked: Checked


@dataclasses.dataclass
class LongPath:
    path: Annotated[Path, Field(min_length=3)]


@dataclasses.dataclass
class Limited:
    count: Annotated[int, Field(gt=0)]


class Shelf(msgspec.Struct):
    item: Limited


T = TypeVar("T")
even = annotated_types.Predicate(lambda number: number % 2 == 0)


class Crate(msgspec.Struct, Generic[T]):
    item: T


class Marker:
    description = "not a constraint, but who knows"


REFUSED: dict[str, tuple[Any, str]] = {
    "unknown class": (Opaque, r"Opaque is not a JSON type; write a dataclass"),
    "unknown class in a list": (
        list[Opaque],
        r"list\[.*Opaque\]: Opaque is not a JSON type; write",
    ),
    "function": (Callable[[int], int], r"Callable\[\[int\], int\]: pydantic cannot read it"),
    "class as a value": (type[int], r"type\[int\] is not a JSON type"),
    "unknown metadata": (Annotated[int, Marker()], r"Marker in Annotated is unknown, .* write msgspec.Meta"),
    "class as metadata": (Annotated[int, Marker], r"Marker in Annotated is unknown"),
    "limit of a string": (Annotated[str, Field(ge=1)], r"ge limits numbers and times, not str; leave it out"),
    "limit of a list": (Annotated[list[int], Field(lt=1)], r"lt limits numbers and times, not list"),
    "length of a number": (Annotated[int, annotated_types.MinLen(1)], r"min_length limits strings and cont"),
    "pattern of a number": (Annotated[int, Field(pattern="a")], r"pattern limits strings, not int"),
    "length of a path": (
        Annotated[Path, Field(min_length=3)],
        r"min_length limits strings and containers, not",
    ),
    "length of a path in a class": (LongPath, r"min_length limits strings and containers, not Path"),
    "limit of nothing": (Annotated[None, annotated_types.Gt(1)], r"gt limits numbers and times, not None"),
    "no validation": (Annotated[int, pydantic.SkipValidation], r"SkipValidation would accept .* write Any"),
    "constraint in a generic Struct": (Crate[Annotated[int, even]], r"Crate\[.*pydantic cannot read it"),
    "constraint in a class in a Struct": (Shelf, r"Shelf\.item: Limited\.count: msgspec ignores part of"),
    "fraction as a limit": (Annotated[int, Field(gt=0.5)], r"pydantic cannot read it: .*integer"),
    "one time zone": (
        Annotated[datetime.datetime, annotated_types.Timezone("Europe/Rome")],
        r"one zone cannot be required; write Timezone\(\.\.\.\)",
    ),
    "zone beside pydantic": (
        Annotated[datetime.datetime | datetime.date, annotated_types.Timezone(...)],
        r"write AwareDatetime",
    ),
    "several aliases": (
        Annotated[int, Field(validation_alias=AliasChoices("a", "b"))],
        r"write alias='name'",
    ),
    "factory of other values": (Annotated[int, Field(default_factory=lambda data: 1)], r"without parameters"),
    "checked default": (Annotated[int, Field(default=1, validate_default=True)], r"validate_default"),
    "Field in a Struct": (LimitedStruct, r"LimitedStruct\.count: .*; in a Struct, write msgspec\.Meta"),
    "Field as default in a Struct": (
        StructWithFieldDefault,
        r"FieldDefault\.count: its default is a Field",
    ),
    "constraint in an attrs class": (
        LimitedAttrs,
        r"LimitedAttrs\.count: .*; in an attrs class, write",
    ),
    "pydantic dataclass in a Struct": (
        StructOfChecked,
        r"\.checked: Checked is a type of pydantic",
    ),
    "msgspec.Meta beside Field": (Mixed, r"Mixed\.size: .*ignores msgspec\.Meta; write pydantic\.Field"),
    "Iterable in a class": (Late, r"Late\.items: .* is checked too late; write list"),
}
if sys.version_info < (3, 12):
    REFUSED["TypedDict of typing"] = (LimitedPlace, r"Please use `typing_extensions\.TypedDict`")


@pytest.mark.parametrize("case", REFUSED)
def test_refusal_names_function_parameter_reason_and_fix(case: str) -> None:
    annotation, reason = REFUSED[case]

    async def take(amount): ...  # type: ignore[no-untyped-def]

    take.__annotations__["amount"] = annotation
    with pytest.raises(RegistrationError, match=f"^take: parameter amount: .*{reason}") as caught:
        Server("test").tools.add(take)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 2 * LONGEST


@pytest.mark.parametrize(
    "add", [lambda server: server.prompt, lambda server: server.resource("a://{amount}")]
)
def test_prompts_and_resources_refuse_the_same(add: Callable[[Server], Any]) -> None:
    async def take(amount: Annotated[int, Marker()]) -> str:
        return ""

    with pytest.raises(RegistrationError, match="take: parameter amount: Marker"):
        add(Server("test"))(take)


def test_return_type_is_refused_likewise() -> None:
    async def give() -> LimitedStruct: ...  # type: ignore[empty-body]

    with pytest.raises(RegistrationError, match=r"tool give: return type: LimitedStruct\.count"):
        Server("test").tools.add(give)


def test_given_schema_makes_the_annotation_irrelevant() -> None:
    async def take(amount: Opaque) -> None: ...

    Server("test").tools.add(take, input_schema={"type": "object"})


class Pair(NamedTuple):
    left: int


@pytest.mark.parametrize("annotation", [int, list[str], dict[str, Pair], Literal["a"], msgspec.Raw | None])
def test_plain_types_are_left_to_msgspec(annotation: Any) -> None:
    from assay.server.types.reading import prepare

    prepared = prepare(annotation)
    assert prepared.annotation is annotation and prepared.by_pydantic is None


if sys.version_info >= (3, 12):
    ALIASES = """
type Name = str
type Age = Annotated[int, Field(ge=0)]
type Pair[T] = tuple[T, T]

class Person(msgspec.Struct):
    name: Name

@dataclasses.dataclass
class Pet:
    age: Age
"""

    @pytest.mark.parametrize(
        ("source", "good", "bad"),
        [
            ("Age", 1, -1),
            ("Age | None", None, -1),
            ("Pair[int]", [1, 2], [1, "a"]),
            ("list[Pair[Age]]", [[1, 2]], [[1, -2]]),
            ("Person", {"name": "a"}, {"name": 1}),
            ("Pet", {"age": 1}, {"age": -1}),
        ],
    )
    async def test_type_statements_are_read_through(source: str, good: Any, bad: Any) -> None:
        names = dict(globals())
        exec(compile(ALIASES, "aliases", "exec", dont_inherit=True), names)

        async def take(value) -> None: ...  # type: ignore[no-untyped-def]

        take.__annotations__["value"] = eval(source, names)
        server = Server("test")
        server.tools.add(take)
        assert await call(server, "take", {"value": good}) == {"content": []}
        assert (await call(server, "take", {"value": bad}))["isError"] is True


PREAMBLE = """
import sys
sys.modules["pydantic"] = None
import collections, datetime, decimal, ipaddress, pathlib, re
from typing import Annotated, Iterable
from annotated_types import Ge, MaxLen
from assay import RegistrationError, Server

def add(annotation):
    async def take(value): ...
    take.__annotations__["value"] = annotation
    Server("test").tools.add(take)
"""


def run(code: str) -> str:
    command = [sys.executable, "-c", PREAMBLE + code]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout.strip()


def test_types_of_the_standard_library_need_no_pydantic() -> None:
    types = (
        "pathlib.Path, pathlib.Path | None, list[ipaddress.IPv4Address], re.Pattern, collections.deque[int], "
        "Iterable[int], object, decimal.Decimal, datetime.datetime, Annotated[int, Ge(1)], "
        "Annotated[str | None, MaxLen(3)]"
    )
    assert run(f"for each in ({types}): add(each)") == ""


def test_without_pydantic_the_refusal_names_it() -> None:
    attempt = "    add(datetime.datetime | datetime.date)"
    text = run(f"try:\n{attempt}\nexcept RegistrationError as error:\n    print(error)")
    assert text.startswith("take: parameter value: datetime | date: ")
    assert text.endswith("install pydantic: pip install pydantic")


LOADED = (
    'print(*(name for name in sys.modules if name.startswith(("pydantic", "assay.server.types.annotation"))))'
)


def test_plain_types_load_nothing_more() -> None:
    assert run(f'del sys.modules["pydantic"]\nadd(int)\nadd(str)\n{LOADED}') == ""


def test_constraints_of_annotated_types_do_not_load_pydantic() -> None:
    code = 'del sys.modules["pydantic"]\nadd(Annotated[int, Ge(1)])\nadd(list[pathlib.Path])\n'
    assert run(code + LOADED) == "assay.server.types.annotation"
