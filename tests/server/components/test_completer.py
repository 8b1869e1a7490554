"""Completion: suggested values, best first, at most a hundred."""

from __future__ import annotations

import enum
from typing import Any, Literal, Optional

import pytest

from assay import Completion, Context, RegistrationError, Server
from assay.server.components.completer import choices, rank
from tests.server.scripted import FIRST, ScriptedClient, ask

CITIES = ["Paris", "Park City", "Comparis", "New Paris", "Rome", "Pa", "Prague, a city of risk"]


class Mood(enum.Enum):
    GLAD = "glad"
    SAD = "sad"


def completing(function: Any) -> Server:
    server = Server("test")

    @server.prompt
    def visit(city: str, country: str = "") -> str:
        return city

    server.completion("visit", "city")(function)
    return server


async def complete(
    server: Server, value: str, *, argument: str = "city", ref: Any = None, **more: Any
) -> Any:
    answer = await ask(
        server,
        "completion/complete",
        ref=ref or {"type": "ref/prompt", "name": "visit"},
        argument={"name": argument, "value": value},
        **more,
    )
    return answer["result"]["completion"] if "result" in answer else answer["error"]


@pytest.mark.parametrize(
    ("typed", "ranked"),
    [
        ("paris", ["Paris", "New Paris", "Comparis", "Prague, a city of risk"]),
        ("pa", ["Pa", "Paris", "Park City", "New Paris", "Comparis", "Prague, a city of risk"]),
        ("PARK", ["Park City", "Prague, a city of risk"]),
        ("city", ["Park City", "Prague, a city of risk"]),
        ("xyz", []),
        ("", CITIES),
    ],
)
def test_best_match_comes_first_and_equals_keep_their_order(typed: str, ranked: list[str]) -> None:
    assert rank(typed, CITIES) == ranked


@pytest.mark.parametrize("candidate", ["new-paris", "new_paris", "new paris"])
def test_words_are_split_at_hyphen_underscore_and_space(candidate: str) -> None:
    assert rank("paris", ["comparis", candidate]) == [candidate, "comparis"]


async def test_suggestions_are_ranked_and_counted() -> None:
    server = completing(lambda value: ["Rome", "New Paris", "Paris"])
    assert await complete(server, "par") == {"values": ["Paris", "New Paris"], "total": 2, "hasMore": False}


@pytest.mark.parametrize(("count", "more"), [(99, False), (100, False), (101, True), (500, True)])
async def test_at_most_a_hundred_values_are_sent(count: int, more: bool) -> None:
    names = [f"city-{number}" for number in range(count)]
    assert await complete(completing(lambda value: names), "city") == {
        "values": names[:100],
        "total": count,
        "hasMore": more,
    }


@pytest.mark.parametrize(
    ("completion", "sent"),
    [
        (Completion(["b", "a"]), {"values": ["b", "a"], "hasMore": False}),
        (Completion(["a"], total=1), {"values": ["a"], "total": 1, "hasMore": False}),
        (Completion(["a"], total=9), {"values": ["a"], "total": 9, "hasMore": True}),
        (Completion(["a"], has_more=True), {"values": ["a"], "hasMore": True}),
        (Completion(["a"] * 101), {"values": ["a"] * 100, "hasMore": True}),
    ],
)
async def test_completion_object_is_used_as_it_is(completion: Completion, sent: dict[str, Any]) -> None:
    assert await complete(completing(lambda: completion), "z") == sent


async def test_other_arguments_reach_the_function() -> None:
    async def cities(value: str, arguments: dict[str, str], ctx: Context) -> list[str]:
        return [f"{value}-{arguments.get('country')}-{ctx.request_id}"]

    server = completing(cities)
    assert (await complete(server, "a", context={"arguments": {"country": "it"}}))["values"] == ["a-it-1"]


@pytest.mark.parametrize("context", [None, {}, {"arguments": None}, {"arguments": {}}])
async def test_missing_context_is_an_empty_mapping(context: Any) -> None:
    server = completing(lambda arguments: [repr(arguments)])
    assert (await complete(server, "", context=context))["values"] == ["{}"]


async def test_variable_of_a_template_is_completed() -> None:
    server = Server("test")
    server.resources.add("city://{name}", lambda name: name)
    server.completion("city://{name}", "name")(lambda value: ["rome"])
    completion = await complete(
        server, "r", argument="name", ref={"type": "ref/resource", "uri": "city://{name}"}
    )
    assert completion == {"values": ["rome"], "total": 1, "hasMore": False}


async def test_literal_and_enum_arguments_are_completed() -> None:
    server = Server("test")

    @server.prompt
    def visit(mood: Literal["glad", "sad", "mad"], city: str) -> str:
        return mood

    assert await complete(server, "ad", argument="mood") == {
        "values": ["glad", "sad", "mad"],
        "total": 3,
        "hasMore": False,
    }


async def test_argument_without_suggestions_has_none() -> None:
    completion = await complete(completing(lambda: []), "x", argument="country")
    assert completion == {"values": [], "total": 0, "hasMore": False}


@pytest.mark.parametrize(
    ("annotation", "listed"),
    [
        (Literal["a", 1], ["a", "1"]),
        (Mood, ["glad", "sad"]),
        (Optional[Mood], ["glad", "sad"]),  # noqa: UP045 - users write it
        (Literal["a"] | None, ["a"]),
        (str, []),
        (Any, []),
    ],
)
def test_choices_of_a_type(annotation: Any, listed: list[str]) -> None:
    assert choices(annotation) == listed


@pytest.mark.parametrize(
    ("ref", "argument"),
    [
        ({"type": "ref/prompt", "name": "nobody"}, "city"),
        ({"type": "ref/prompt", "name": "visit"}, "nothing"),
        ({"type": "ref/resource", "uri": "city://{unknown}"}, "city"),
        ({"type": "ref/prompt"}, "city"),
        ({"type": "ref/resource"}, "city"),
        ({"type": "ref/tool", "name": "visit"}, "city"),
        ({"name": "visit"}, "city"),
    ],
)
async def test_unknown_reference_is_invalid_params(ref: dict[str, str], argument: str) -> None:
    assert (await complete(completing(lambda: []), "", ref=ref, argument=argument))["code"] == -32602


@pytest.mark.parametrize(
    ("target", "argument", "function", "problem"),
    [
        ("nobody", "city", lambda: [], "no such prompt"),
        ("visit", "nothing", lambda: [], "no argument 'nothing'"),
        ("visit", "city", lambda: [], "has one already"),
        ("visit", "country", lambda other: [], "its parameters may be value, arguments"),
    ],
)
def test_completion_of_unknown_target_is_refused(
    target: str, argument: str, function: Any, problem: str
) -> None:
    server = completing(lambda: [])
    with pytest.raises(RegistrationError, match=problem):
        server.completion(target, argument)(function)


async def test_failure_of_a_completion_is_logged_only(caplog: Any) -> None:
    def fail() -> list[str]:
        raise ValueError("secret")

    assert await complete(completing(fail), "") == {"code": -32603, "message": "internal error"}
    assert [record.message for record in caplog.records] == ["completion/complete failed"]


async def test_completion_may_be_added_later() -> None:
    server = Server("test")
    server.prompts.add(lambda city: city, name="visit")
    async with ScriptedClient(server) as client:
        params = {"ref": {"type": "ref/prompt", "name": "visit"}, "argument": {"name": "city", "value": ""}}
        assert (await client.error("completion/complete", **params))["code"] == -32601
        server.completion("visit", "city")(lambda: ["rome"])
        assert (await client.result("completion/complete", **params))["completion"]["values"] == ["rome"]


async def test_oldest_revision_completes_without_declaring_it() -> None:
    """The capability was added one revision after the method."""
    server = completing(lambda: ["rome"])
    client = ScriptedClient(server, revision=FIRST)
    declared = (await client.initialize())["capabilities"]
    params = {"ref": {"type": "ref/prompt", "name": "visit"}, "argument": {"name": "city", "value": ""}}
    completion = await client.result("completion/complete", **params)
    assert ("completions" in declared, completion["completion"]["values"]) == (False, ["rome"])
