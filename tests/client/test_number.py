"""Numbers that JSON cannot express are refused by name, instead of being sent as null."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

from assay import Client, Server
from assay.client.number import check_numbers

server = Server("numbers")


@server.tool
async def show(value: Any = None) -> str:
    """Show a value."""
    return repr(value)


@dataclass
class Point:
    x: float
    label: str | None = None


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (math.nan, "value of tool show is nan"),
        (-math.inf, "value of tool show is -inf"),
        ([1.0, None, math.inf], r"value\[2\] of tool show is inf"),
        ({"points": [Point(1.0), Point(math.nan)]}, r"value\.points\[1\]\.x of tool show is nan"),
    ],
)
async def test_the_error_names_the_argument(value: Any, place: str) -> None:
    async with Client(server) as client:
        with pytest.raises(ValueError, match=f"argument {place}, which JSON cannot express: pass None"):
            await client.call("show", value=value)
        with pytest.raises(ValueError, match="argument level of notes/set is nan"):
            await client.request("notes/set", {"level": math.nan})


async def test_finite_numbers_and_nulls_are_sent() -> None:
    async with Client(server) as client:
        for value in (1.5, None, [None, 1.0], {"a": None}, "null"):
            assert (await client.call("show", value=value)).text == repr(value)


def test_what_cannot_be_encoded_at_all_is_left_to_the_encoder() -> None:
    check_numbers({"a": object(), "b": [object()]}, "of tool show")
