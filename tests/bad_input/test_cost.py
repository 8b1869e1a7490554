"""The CPU time of bad input, per byte: no more than a few times that of decoding valid JSON."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from decimal import Decimal
from time import process_time
from typing import Annotated, Any

import msgspec
import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, HttpUrl, SecretStr

from assay import Limits
from assay.model.error import MalformedMessage
from assay.protocol.codec import decode
from assay.protocol.framing.lines import LineFramer
from assay.protocol.framing.websocket import TEXT, MessageReader, frame
from assay.protocol.http.head_policy import HeadPolicy, RequestHead
from assay.protocol.http.policy import HttpPolicy
from assay.server.components.tool import TypedArguments
from assay.server.handlers.signature import read_signature
from tests.bad_input.messages import ignored
from tests.bad_input.table import TABLE
from tests.driving.raw_socket import MASK

FACTOR = 6
"""Measured: at most 3.5 for nesting that stays just within the limit, about 1 for everything else."""
SIZE = 128 * 1024
ROW_SIZE = 16 * 1024
ATTEMPTS = 50
LIMITS = Limits()
GOOD = msgspec.json.encode([{"id": 1, "name": "ann", "tags": ["a", "b"], "score": 1.5}] * 600)
MESSAGES = [row for row in TABLE if not row.raw and row.sent]
VALUES = sorted(
    {value for row in TABLE for _, value in row.head.changed if 0 < len(value) < 1000}
    | {",", ";", "a, ", ";q=1"}
)
HEAD_FIELDS = RequestHead._fields[1:]
USUAL_HEAD = RequestHead(
    "POST", b"localhost", None, b"application/json", b"application/json, text/event-stream", None
)


@pytest.fixture(autouse=True)
def no_garbage_collection() -> Iterator[None]:
    """A full collection visits every object of this process, which are those of all tests before: its time
    says nothing about the input."""
    gc.disable()
    yield
    gc.enable()


def seconds(work: Callable[[bytes], object], data: bytes) -> float:
    start = process_time()
    work(data)
    return process_time() - start


def relative_cost(work: Callable[[bytes], object], data: bytes, factor: float = FACTOR) -> float:
    """The CPU time per byte, in units of decoding valid JSON. It is measured again while it is too high: a
    disturbance of the machine passes, a slow step does not."""
    cost = float("inf")
    for _ in range(ATTEMPTS):
        good = seconds(msgspec.json.decode, GOOD) / len(GOOD)
        cost = min(cost, seconds(work, data) / len(data) / good)
        if cost <= factor:
            break
    return cost


def read(body: bytes) -> None:
    try:
        decode(body, LIMITS)
    except MalformedMessage:
        pass


def enough(unit: bytes, separator: bytes = b"", size: int = ROW_SIZE) -> bytes:
    """The unit, repeated up to the size."""
    return separator.join([unit] * (size // (len(unit) + len(separator)) + 1))


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "one after another": enough,
    "as members of a batch": lambda sent: b"[" + enough(sent, b",") + b"]",
    "as a parameter": lambda sent: ignored(many(sent)),
    "inside a string": lambda sent: ignored(msgspec.json.encode(enough(sent).decode("latin-1"))),
    "in a bad request": lambda sent: b'{"jsonrpc":"1.0","id":[' + enough(sent, b",") + b"]}",
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_the_table_cost_little_more_than_valid_json(form: str) -> None:
    costs = {row.id: relative_cost(read, FORMS[form](row.sent)) for row in MESSAGES}
    assert not {name: cost for name, cost in costs.items() if cost > FACTOR}


def many(unit: bytes) -> bytes:
    return b"[" + enough(unit, b",", SIZE) + b"]"


BODIES = {
    "open arrays": b"[" * SIZE,
    "open objects": b'{"":' * (SIZE // 4),
    "closed arrays": b"]" * SIZE,
    "deep arrays": b"[" * (SIZE // 2) + b"]" * (SIZE // 2),
    "empty arrays": b"[]" * (SIZE // 2),
    "empty arrays in a parameter": ignored(many(b"[]")),
    "empty objects in a parameter": ignored(many(b"{}")),
    "arrays just within the limit": ignored(many(b"[" * 60 + b"]" * 60)),
    "peaks at the limit": ignored(b"[" * 58 + enough(b"[[]]", b",") + b"]" * 58),
    "peaks at the limit without commas": b"[" * 60 + enough(b"[[]]"),
    "quotes": b'"' * SIZE,
    "brackets between quotes": b'"["[' * (SIZE // 4),
    "empty strings": ignored(many(b'""')),
    "escaped quotes": ignored(b'"' + b'\\"' * (SIZE // 2) + b'"'),
    "escaped backslashes": ignored(b'"' + b"\\\\" * (SIZE // 2) + b'"'),
    "strings of one backslash": ignored(many(b'"\\\\"')),
    "escaped characters": ignored(b'"' + b"\\u00e9" * (SIZE // 6) + b'"'),
    "a long string": ignored(b'"' + b"x" * SIZE + b'"'),
    "a long id": b'{"jsonrpc":"2.0","method":"ping","id":"' + b"x" * SIZE + b'"}',
    "a long number": ignored(b"1" * SIZE),
    "a long fraction": ignored(b"0." + b"1" * SIZE),
    "a long number as id": b'{"jsonrpc":"2.0","method":"ping","id":' + b"1" * SIZE + b"}",
    "many keys": b"{" + b",".join(b'"%d":0' % number for number in range(SIZE // 9)) + b"}",
    "the same key": b"{" + enough(b'"id":0', b",") + b"}",
    "text that is not ASCII": ignored(b'"' + "é€😀".encode() * (SIZE // 9) + b'"'),
    "invalid UTF-8 at the end": ignored(b'"' + "é".encode() * (SIZE // 2) + b'\xff"'),
    "a batch of numbers": b"[" + enough(b"1", b",") + b"]",
    "a batch of empty objects": b"[" + enough(b"{}", b",") + b"]",
    "blanks": b" " * SIZE,
    "a bad request with empty arrays": b'{"jsonrpc":"1.0","id":1,"x":[' + enough(b"[]", b",") + b"]}",
    "a bad request with an array as id": b'{"jsonrpc":"2.0","method":"a","id":['
    + enough(b"[]", b",")
    + b"]}",
}


@pytest.mark.parametrize("name", BODIES)
def test_large_body_costs_little_more_than_valid_json(name: str) -> None:
    assert relative_cost(read, BODIES[name]) <= FACTOR


@pytest.mark.parametrize("name", BODIES)
def test_large_line_costs_little_more_than_valid_json(name: str) -> None:
    def frame_lines(data: bytes) -> None:
        LineFramer(LIMITS.message_bytes).feed(data)

    assert relative_cost(frame_lines, BODIES[name] + b"\n") <= FACTOR


@pytest.mark.parametrize("name", BODIES)
def test_large_frame_costs_little_more_than_valid_json(name: str) -> None:
    def read_frames(data: bytes) -> None:
        MessageReader(LIMITS.message_bytes, masked=True).feed(data)

    assert relative_cost(read_frames, frame(TEXT, BODIES[name], mask=MASK)) <= FACTOR


@pytest.mark.parametrize("field", HEAD_FIELDS)
def test_header_values_cost_little_more_than_valid_json(field: str) -> None:
    policy = HeadPolicy(HttpPolicy())

    def judge(value: bytes) -> None:
        policy.judge.cache_clear()
        policy.judge(USUAL_HEAD._replace(**{field: value}))  # type: ignore[arg-type]

    costs = {value: relative_cost(judge, enough(value.encode("latin-1", "replace"))) for value in VALUES}
    assert not {value[:20]: cost for value, cost in costs.items() if cost > FACTOR}


# Arguments that pydantic reads.


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = ""
    count: Annotated[int, Field(ge=0)] = 0


class Folder(BaseModel):
    files: list[Folder] = []


Link = Annotated[str, Field(max_length=40), AfterValidator(str)]
READ_FACTOR = 120
"""Measured: about 70 for `{}` as a model, which is an object of Python for three bytes, and 15 for others."""
REFUSED: dict[str, tuple[Any, bytes]] = {
    "models with a wrong value": (list[Item], many(b'{"count":""}')),
    "models with an unknown member": (list[Item], many(b'{"a":1}')),
    "a model with many unknown members": (
        Item,
        b"{" + b",".join(b'"k%d":0' % number for number in range(SIZE // 9)) + b"}",
    ),
    "long texts": (list[Link], many(b'"' + b"a" * 41 + b'"')),
    "one long text": (Link, b'"' + b"a" * SIZE + b'"'),
    "a wrong type, everywhere": (list[Link], many(b"1")),
    "models inside models": (Folder, b'{"files":' + many(b'{"files":[1]}') + b"}"),
    "a long number": (Annotated[int, AfterValidator(int)], b"1" * SIZE),
    "a URL that is not ASCII": (HttpUrl, b'"http://' + "ü".encode() * (SIZE // 2) + b'"'),
}
ACCEPTED: dict[str, tuple[Any, bytes]] = {
    "models": (list[Item], many(b'{"name":"a","count":1}')),
    "empty models": (list[Item], many(b"{}")),
    "short texts": (list[Link], many(b'""')),
    "URLs": (list[HttpUrl], many(b'"http://a.b"')),
    "decimals": (list[Annotated[Decimal, Field(ge=0)]], many(b'"1e9"')),
    "secrets": (list[SecretStr], many(b'""')),
}


def reader(annotation: Any) -> Callable[[bytes], object]:
    def take(value: Any) -> None: ...

    take.__annotations__ = {"value": annotation}
    arguments = TypedArguments(read_signature(take))

    def read_value(raw: bytes) -> bool:
        try:
            arguments.read(msgspec.Raw(b'{"value":' + raw + b"}"))
        except ValueError:
            return False
        return True

    read_value(b"0")  # the validator is compiled at first use
    return read_value


@pytest.mark.parametrize("name", REFUSED)
def test_argument_that_does_not_fit_costs_little_more_than_valid_json(name: str) -> None:
    annotation, raw = REFUSED[name]
    read_value = reader(annotation)
    assert not read_value(raw)
    assert relative_cost(read_value, raw) <= FACTOR


@pytest.mark.parametrize("name", ACCEPTED)
def test_argument_that_pydantic_reads_costs_a_bounded_multiple_of_valid_json(name: str) -> None:
    annotation, raw = ACCEPTED[name]
    read_value = reader(annotation)
    assert read_value(raw)
    assert relative_cost(read_value, raw, READ_FACTOR) <= READ_FACTOR
