"""Values that are meant to cost much, and types with which a client could do more than its author meant."""

from __future__ import annotations

import datetime
import re
import sys
import uuid
from time import process_time
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Raw, Struct
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FilePath,
    ImportString,
    NewPath,
    SecretBytes,
    SecretStr,
)

from assay import RegistrationError
from assay.server.components.tool import TypedArguments
from assay.server.handlers.signature import read_signature
from assay.server.types.pydantic_adapter import PydanticAdapter
from assay.server.types.self_union import SelfUnion, self_union
from assay.server.types.validator import Validator

SECONDS = 2.0
"""Measured: below 10 ms for each. Without a bound, any of these takes hours."""
DEPTH = 40
SECRET = "hunter2"


class Add(BaseModel):
    left: Add | Multiply | int
    kind: Literal["add"] = "add"


class Multiply(BaseModel):
    left: Add | Multiply | int
    kind: Literal["multiply"]


class Plus(BaseModel):
    left: Annotated[Plus | Times, Field(discriminator="kind")] | int
    kind: Literal["plus"]


class Times(BaseModel):
    left: Annotated[Plus | Times, Field(discriminator="kind")] | int
    kind: Literal["times"]


class Left(Struct, tag="left"):
    child: Left | Right | None = None
    when: datetime.datetime | None = None


class Right(Struct, tag="right"):
    child: Left | Right | None = None
    when: datetime.datetime | None = None


def nested(depth: int, name: str, leaf: Any, **others: Any) -> Any:
    for _ in range(depth):
        leaf = {name: leaf, **others}
    return leaf


def read(annotation: Any, value: Any) -> Any:
    def take(x: Any) -> None: ...

    take.__annotations__ = {"x": annotation}
    return TypedArguments(read_signature(take)).read(Raw(msgspec.json.encode({"x": value})))["x"]


DEEP = {
    "a union without a discriminator": (Add | Multiply, nested(DEPTH, "left", 1, kind="multiply")),
    "the same, of no member": (Add | Multiply, nested(DEPTH, "left", 1, kind="divide")),
    "a discriminated union": (
        Annotated[Plus | Times, Field(discriminator="kind")],
        nested(DEPTH, "left", "a", kind="times"),
    ),
    "tagged structs with a time": (Left | Right, nested(DEPTH, "child", {"when": "a"}, type="right")),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_value_of_a_union_that_contains_itself_is_refused_at_once(name: str) -> None:
    annotation, value = DEEP[name]
    begin = process_time()
    with pytest.raises(ValueError):
        read(annotation, value)
    assert process_time() - begin < SECONDS


def test_unions_that_contain_themselves_are_read() -> None:
    assert isinstance(read(Add | Multiply, nested(8, "left", 1, kind="multiply")), Multiply)
    discriminated = Annotated[Plus | Times, Field(discriminator="kind")]
    assert isinstance(read(discriminated, nested(DEPTH, "left", 1, kind="times")), Times)


def test_reason_for_a_deep_value_is_found_in_linear_time() -> None:
    part = {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False, "type": "object"}
    validator = Validator({"anyOf": [part, {**part, "minProperties": 1}, {"type": "integer"}]})
    begin = process_time()
    assert validator.problem(nested(DEPTH, "a", 1)) is None
    assert validator.problem(nested(DEPTH, "a", "b")) == "the value does not fit the schema - at `$`"
    assert process_time() - begin < SECONDS


def test_only_unions_that_contain_themselves_are_counted() -> None:
    item = {"type": "object", "properties": {"a": {"$ref": "#/$defs/all"}}}
    mixed = {"anyOf": [item, {"type": "array", "items": {"$ref": "#/$defs/all"}}, {"type": "string"}]}
    assert self_union({"$defs": {"all": mixed}, "$ref": "#/$defs/all"}, tagged=True) is None
    both = {"anyOf": [item, item, {"type": "null"}]}
    assert self_union({"$defs": {"all": both}, "$ref": "#/$defs/all"}, tagged=True) == SelfUnion(2, 1)
    tagged = {"oneOf": [item, item], "discriminator": {"propertyName": "kind"}}
    assert self_union({"$defs": {"all": tagged}, "$ref": "#/$defs/all"}, tagged=False) is None
    assert self_union({"anyOf": [{"type": "object"}, {"type": "object"}]}, tagged=True) is None


class PythonPattern(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")
    word: Annotated[str, Field(pattern="^(a+)+$")]


class Plugin(BaseModel):
    load: ImportString[Any]


@pytest.mark.parametrize(
    ("annotation", "fix"),
    [
        (Annotated[str, Field(pattern=re.compile("^(a+)+$", re.IGNORECASE))], r"write it as text.*\(\?i\)"),
        (PythonPattern, "leave out regex_engine"),
        (list[PythonPattern], "leave out regex_engine"),
        (ImportString, "look the name up in a table"),
        (Plugin, "look the name up in a table"),
    ],
)
def test_type_with_which_a_client_could_harm_is_refused(annotation: Any, fix: str) -> None:
    with pytest.raises(RegistrationError, match=fix):
        read(annotation, "a")


def test_flags_inside_a_pattern_are_honoured() -> None:
    assert read(Annotated[str, Field(pattern="(?i)^a+$")], "AA") == "AA"


class Login(BaseModel):
    password: Annotated[SecretStr, Field(max_length=5)] = SecretStr("")
    pins: list[Annotated[SecretStr, Field(min_length=40)]] = []
    port: int = 0


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Annotated[SecretStr, Field(max_length=5)], SECRET),
        (Annotated[SecretStr, Field(max_length=5)], SECRET * 10_000),
        (Annotated[SecretBytes, Field(max_length=5)], SECRET * 4),
        (SecretStr, [SECRET]),
        (Login, {"password": SECRET}),
        (Login, {"password": SECRET * 10_000}),
        (Login, {"password": [SECRET], "port": "a"}),
        (Login, {"pins": [SECRET] * 500}),
        (Login, SECRET),
        (list[Login], [{"password": SECRET}] * 5000),
    ],
)
def test_secret_is_not_part_of_a_message(annotation: Any, value: Any) -> None:
    with pytest.raises(ValueError) as caught:
        read(annotation, value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("annotation", [FilePath, NewPath])
def test_path_that_the_system_cannot_look_up_is_refused(annotation: Any) -> None:
    with pytest.raises(ValueError, match=r"File name too long - at `\$.x`"):
        read(annotation, "a" * 100_000)


def test_path_in_text_that_the_system_cannot_look_up_is_refused() -> None:
    with pytest.raises(ValueError, match="File name too long - at `place`"):
        PydanticAdapter(FilePath).read_text("a" * 100_000, "place")


def test_message_about_thousands_of_values_counts_them() -> None:
    def refuse(value: int) -> int:
        raise ValueError("always")

    with pytest.raises(ValueError, match=r"5000 parts of it do not fit - at `\$.x`"):
        read(list[Annotated[int, AfterValidator(refuse)]], [1] * 5000)


PRIME = sys.hash_info.modulus
NUMBERS = [number * PRIME for number in range(20_000)]
UUIDS = [str(uuid.UUID(int=number)) for number in NUMBERS]


class Chosen(Struct):
    numbers: frozenset[int]


class ChosenModel(BaseModel):
    numbers: set[int] = set()
    by_number: dict[int, str] = {}


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (set[int], NUMBERS),
        (list[set[int | str]], [NUMBERS]),
        (dict[int, int], {str(number): 0 for number in NUMBERS}),
        (set[uuid.UUID], UUIDS),
        (set[uuid.UUID], [text.replace("-", "").upper() for text in UUIDS]),
        (Chosen, {"numbers": NUMBERS}),
        (Annotated[set[int], AfterValidator(set)], NUMBERS),
        (ChosenModel, {"numbers": NUMBERS}),
        (ChosenModel, {"by_number": {str(number): "" for number in NUMBERS}}),
        (list[ChosenModel], [{"numbers": NUMBERS}]),
    ],
)
def test_numbers_with_chosen_hashes_are_refused(annotation: Any, value: Any) -> None:
    begin = process_time()
    with pytest.raises(ValueError, match="chosen to have the same hash"):
        read(annotation, value)
    assert process_time() - begin < SECONDS


def test_large_sets_are_read() -> None:
    numbers = [2**70 + 3**40 * number for number in range(20_000)]
    assert read(set[int], numbers) == set(numbers)
    ids = [str(uuid.UUID(int=number << 64)) for number in range(5000)]
    assert len(read(set[uuid.UUID], ids * 2)) == 5000


def test_pattern_of_a_client_that_takes_long_to_compile_is_refused() -> None:
    begin = process_time()
    with pytest.raises(ValueError, match="at most 8 ranges"):
        read(re.Pattern, "(?i)" + "[\x80-\U0010ffff]" * 800)
    with pytest.raises(ValueError, match="at most 8 ranges"):
        read(re.Pattern, r"[\x80-\U0010ffff]" * 200)
    assert read(re.Pattern, r"\d{3}-\d{3}-[a-zä-ü]").pattern
    assert process_time() - begin < SECONDS
