"""What type checkers see of the public names. `make check` runs mypy on this module; nothing runs it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, assert_type

from assay import Audio, Contents, Context, Elicited, File, Image


@dataclass
class Person:
    name: str


class Color(Enum):
    RED = "red"


async def answers(ctx: Context) -> None:
    answer = await ctx.elicit("Who are you?", Person)
    assert_type(answer, Elicited[Person])
    assert_type(answer.data.name, str)
    assert_type(answer.content, Person | None)
    assert_type(await ctx.elicit("Sure?", bool, key="sure", timeout=3.0), Elicited[bool])
    assert_type(await ctx.elicit("Which?", Color), Elicited[Color])
    assert_type(await ctx.elicit("Which?", list[Color]), Elicited[list[Color]])
    assert_type(await ctx.elicit("Which?", ["a", "b"]), Elicited[str])
    assert_type(await ctx.elicit("Which?", [["a", "b"]]), Elicited[list[str]])
    assert_type(await ctx.elicit("Which?", [{"a": {"title": "A"}}]), Elicited[list[str]])
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    assert_type(await ctx.elicit("What?", schema), Elicited[dict[str, Any]])
    assert_type(await ctx.elicit("Who?", response_type=Person, response_title="You"), Elicited[Person])
    assert_type(await ctx.elicit_url("Pay", "https://example.com"), Elicited[None])


def blocks() -> None:
    assert_type(Image(path="plot.png"), Image)
    assert_type(Image(b"", format="png").data, bytes)
    assert_type(Audio(b"", "audio/wav").mime_type, str)
    assert_type(File(path="report.pdf", max_bytes=10).resource, Contents)
