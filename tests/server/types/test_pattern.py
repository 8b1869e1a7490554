"""Patterns of strings: checked in bounded time, wherever they are declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest
from msgspec import Meta

from assay import Context, RegistrationError, Server
from assay.server.calls.form import Form
from assay.server.types.pattern import without_patterns
from assay.server.types.validator import Validator
from tests.server.scripted import ScriptedClient

SLOW = r"^(a+)+$"
"""Python needs hours for a string such as `HOSTILE`."""
HOSTILE = "a" * 60 + "b"
Word = Annotated[str, Meta(pattern=SLOW, min_length=2)]


async def take_word(word: Word) -> str:
    return word


async def take_words(word: list[Word]) -> str:
    return word[0]


async def take_by_key(word: dict[str, Word | None]) -> str:
    return str(word["a"])


async def take_number_or_word(word: int | Word) -> str:
    return str(word)


async def take_word_or_nothing(word: Word | None = None) -> str:
    return str(word)


SHAPES: dict[Callable[..., Any], Callable[[str], Any]] = {
    take_word: lambda word: word,
    take_words: lambda word: ["aa", word],
    take_by_key: lambda word: {"a": word},
    take_number_or_word: lambda word: word,
    take_word_or_nothing: lambda word: word,
}


@pytest.mark.parametrize("function", SHAPES)
async def test_argument_is_checked_without_backtracking(function: Callable[..., Any]) -> None:
    server, shape = Server("test"), SHAPES[function]
    server.tools.add(function, name="take")
    async with ScriptedClient(server) as client:
        assert (await client.call("take", word=shape("aaa"))).get("isError") in (False, None)
        refused = await client.call("take", word=shape(HOSTILE))
        assert refused["isError"] is True
        assert "invalid arguments for tool take" in refused["content"][0]["text"]
        assert (await client.call("take", word=shape("a")))["isError"] is True  # the other constraints hold


async def test_pattern_is_declared_in_the_schema() -> None:
    server = Server("test")
    server.tools.add(take_word)
    async with ScriptedClient(server) as client:
        (tool,) = (await client.result("tools/list"))["tools"]
        assert tool["inputSchema"]["properties"]["word"] == {
            "type": "string",
            "pattern": SLOW,
            "minLength": 2,
        }


async def test_default_need_not_match() -> None:
    server = Server("test")

    @server.tool
    async def take(word: Annotated[str, Meta(pattern="^a")] = "") -> str:
        return f"got {word}"

    async with ScriptedClient(server) as client:
        assert await client.text_of("take") == "got "
        assert (await client.call("take", word="b"))["isError"] is True


async def test_arguments_of_prompts_resources_and_methods_are_checked() -> None:
    server = Server("test")
    server.prompt(take_word)
    server.resource("word://{word}")(take_word)

    @server.method("words/take")
    async def take(word: Word) -> dict[str, str]:
        return {"word": word}

    async with ScriptedClient(server) as client:
        for method, params in (
            ("prompts/get", lambda word: {"name": "take_word", "arguments": {"word": word}}),
            ("resources/read", lambda word: {"uri": f"word://{word}"}),
            ("words/take", lambda word: {"word": word}),
        ):
            assert "result" in await client.request(method, **params("aaa")), method
            assert (await client.error(method, **params(HOSTILE)))["code"] == -32602


async def test_return_value_is_checked_without_backtracking() -> None:
    server = Server("test")

    @server.tool
    async def give(word: str) -> list[Word]:
        return [word]

    async with ScriptedClient(server) as client:
        assert (await client.call("give", word="aaa"))["structuredContent"] == {"result": ["aaa"]}
        assert (await client.call("give", word=HOSTILE))["isError"] is True


@dataclass
class Order:
    word: Word


class Entry(TypedDict):
    order: list[Order]


class Item(msgspec.Struct):
    word: Word
    next: Item | None = None


async def return_order() -> Order:
    return Order("aa")


@pytest.mark.parametrize("annotation", [Order, Entry, Item, list[Item], Item | None])
def test_pattern_inside_a_class_is_refused(annotation: Any) -> None:
    async def take(value: annotation) -> str:  # type: ignore[valid-type]
        return ""

    take.__annotations__["value"] = annotation
    with pytest.raises(RegistrationError, match=r"take: parameter value: pattern inside (Order|Item)"):
        Server("test").tools.add(take)


def test_pattern_inside_a_returned_class_or_a_form_is_refused() -> None:
    with pytest.raises(RegistrationError, match="tool return_order: return type: pattern inside Order"):
        Server("test").tools.add(return_order)
    with pytest.raises(RegistrationError, match="pattern inside Order"):
        Form(Order)


@pytest.mark.parametrize("pattern", [SLOW, r"^(a+)+(?=c)$", r"^(a|a)*\1?(?!x)$"])
def test_given_schema_is_checked_in_bounded_time(pattern: str) -> None:
    validator = Validator({"type": "string", "pattern": pattern})
    assert validator.problem(HOSTILE) is not None
    assert validator.problem("a" * 10_000 + "b") is not None


def test_pattern_that_the_engine_cannot_check_is_refused() -> None:
    async def take(word: Annotated[str, Meta(pattern=r"a\Z")]) -> str:
        return word

    with pytest.raises(RegistrationError, match="invalid JSON Schema"):
        Server("test").tools.add(take)


@pytest.mark.parametrize(
    "annotation", [str, int, list[str], Literal["a"], dict[str, int] | None, Any, Context]
)
def test_type_without_patterns_stays_as_it_is(annotation: Any) -> None:
    assert without_patterns(annotation) is annotation
