"""Parameters: `Field` in every place, names on the wire, defaults, and methods without their object."""
# ruff: noqa: B008 - a Field as default is what authors write

from __future__ import annotations

import datetime
import functools
import pathlib
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, HttpUrl

from assay import Header, RegistrationError, Server
from tests.server.scripted import ScriptedClient, call


def schema_of_tool(function: Callable[..., Any]) -> Any:
    server = Server("test")
    server.tools.add(function)
    return server.tools.list()[0].input_schema


def test_field_describes_a_parameter() -> None:
    async def take(
        amount: Annotated[
            int,
            Field(
                title="Amount",
                description="How many",
                examples=[3],
                deprecated=True,
                json_schema_extra={"x-unit": "m"},
            ),
        ],
    ) -> None: ...

    assert schema_of_tool(take)["properties"]["amount"] == {
        "type": "integer",
        "title": "Amount",
        "description": "How many",
        "examples": [3],
        "deprecated": True,
        "x-unit": "m",
    }


def test_field_as_default_describes_and_limits_a_parameter() -> None:
    async def take(amount: int = Field(3, ge=1, description="How many"), link: HttpUrl = Field()) -> None: ...

    schema = schema_of_tool(take)
    assert schema["properties"]["amount"] == {
        "type": "integer",
        "minimum": 1,
        "default": 3,
        "description": "How many",
    }
    assert schema["required"] == ["link"]


def test_field_and_header_go_together() -> None:
    async def take(
        region: Annotated[str, Field(max_length=3, description="Where"), Header("Region")],
    ) -> None: ...

    assert schema_of_tool(take)["properties"]["region"] == {
        "type": "string",
        "maxLength": 3,
        "description": "Where",
        "x-mcp-header": "Region",
    }


async def test_alias_is_the_name_on_the_wire() -> None:
    server = Server("test")

    @server.tool
    async def mail(
        from_: Annotated[str, Field(alias="from")], to: str = Field(validation_alias="rcpt")
    ) -> str:
        return f"{from_} to {to}"

    assert (await call(server, "mail", {"from": "ada", "rcpt": "bob"}))["content"][0]["text"] == "ada to bob"
    assert (await call(server, "mail", {"from_": "ada", "rcpt": "bob"}))["isError"] is True


async def test_alias_names_arguments_of_prompts_and_variables_of_templates() -> None:
    server = Server("test")

    @server.prompt
    @server.resource("mail://{from}")
    async def mail(sender: Annotated[str, Field(alias="from")]) -> str:
        return f"mail of {sender}"

    async with ScriptedClient(server) as client:
        (prompt,) = (await client.result("prompts/list"))["prompts"]
        assert [argument["name"] for argument in prompt["arguments"]] == ["from"]
        answer = await client.result("prompts/get", name="mail", arguments={"from": "ada"})
        assert answer["messages"][0]["content"]["text"] == "mail of ada"
        (contents,) = (await client.result("resources/read", uri="mail://ada"))["contents"]
        assert contents["text"] == "mail of ada"


def test_two_parameters_with_one_name_are_refused() -> None:
    async def take(a: int, b: Annotated[int, Field(alias="a")]) -> None: ...

    with pytest.raises(RegistrationError, match="take: two parameters have the name or alias a"):
        Server("test").tools.add(take)


async def test_default_factory_makes_a_default_for_every_call() -> None:
    server, received = Server("test"), []

    @server.tool
    async def take(
        items: list[int] = Field(default_factory=list),
        links: list[HttpUrl] = Field(default_factory=list),
    ) -> None:
        received.extend([items, links])

    await call(server, "take")
    await call(server, "take")
    assert received == [[], [], [], []]
    assert len({id(each) for each in received}) == 4


async def test_default_of_a_pydantic_type_is_passed_on_unchecked() -> None:
    server = Server("test")
    nothing = object()

    @server.tool
    async def take(link: HttpUrl | int = nothing) -> bool:  # type: ignore[assignment]
        return link is nothing

    assert (await call(server, "take"))["structuredContent"] == {"result": True}
    assert "default" not in server.tools.list()[0].input_schema["properties"]["link"]


def test_defaults_are_part_of_the_schema() -> None:
    async def take(
        path: pathlib.Path = pathlib.Path("a"),
        day: datetime.date = datetime.date(2026, 7, 28),
        items: list[int] = [1],  # noqa: B006 - authors write it
    ) -> None: ...

    properties = schema_of_tool(take)["properties"]
    defaults = {name: field["default"] for name, field in properties.items()}
    assert defaults == {"path": "a", "day": "2026-07-28", "items": [1]}


async def test_field_default_holds_beside_a_given_schema() -> None:
    server = Server("test")

    @server.tool(input_schema={"type": "object"})
    async def take(amount: int = Field(default=3)) -> str:
        return str(amount)

    assert (await call(server, "take"))["content"][0]["text"] == "3"
    assert (await call(server, "take", {"amount": 4}))["content"][0]["text"] == "4"


class Offer(BaseModel):
    name: str
    price: float = 0


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        (int, "3", "3"),
        (Annotated[int, Field(ge=1)], "3", "3"),
        (datetime.datetime, "2026-07-28", "2026-07-28 00:00:00"),
        (pathlib.Path, "a/b", "a/b"),
        (HttpUrl, "https://example.com", "https://example.com/"),
        (HttpUrl | int, "3", "3"),
        (list[int], "[1, 2]", "[1, 2]"),
        (dict[str, int] | None, '{"a": 1}', "{'a': 1}"),
        (Offer, '{"name": "a"}', "name='a' price=0"),
    ],
)
async def test_arguments_of_prompts_are_read_from_text(annotation: Any, text: str, value: str) -> None:
    server = Server("test")

    async def show(value) -> str:  # type: ignore[no-untyped-def]
        return str(value)

    show.__annotations__["value"] = annotation
    server.prompt(show)
    async with ScriptedClient(server) as client:
        answer = await client.result("prompts/get", name="show", arguments={"value": text})
        assert answer["messages"][0]["content"]["text"] == value


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (int, "x"),
        (Annotated[int, Field(ge=1)], "0"),
        (HttpUrl, "x"),
        (list[int], "[1"),
        (list[int], '["a"]'),
        (list[Annotated[str, Field(pattern="^a$")]], '["b"]'),
        (Offer, "{}"),
        (Offer, "["),
    ],
)
async def test_text_that_does_not_fit_is_refused_with_its_name(annotation: Any, text: str) -> None:
    server = Server("test")

    async def show(value) -> str:  # type: ignore[no-untyped-def]
        return str(value)

    show.__annotations__["value"] = annotation
    server.prompt(show)
    async with ScriptedClient(server) as client:
        error = await client.error("prompts/get", name="show", arguments={"value": text})
        assert error["code"] == -32602
        assert "`$.value" in error["message"]


async def test_long_names_and_values_of_clients_are_cut_in_messages() -> None:
    server = Server("test")

    @server.tool
    async def take(word: Annotated[str, Field(pattern="^a$")]) -> None: ...

    for arguments in ({"word": "b" * 10_000}, {"word": "a", "x" * 10_000: 1}):
        result = await call(server, "take", arguments)
        assert result["isError"] is True
        assert len(result["content"][0]["text"]) < 500


def test_method_without_its_object_is_refused_with_the_fix() -> None:
    server = Server("test")
    with pytest.raises(
        RegistrationError, match=r"parameter self: Counter\.add is a method .*Counter\(…\)\.add"
    ):

        class Counter:
            @server.tool
            async def add(self, by: int) -> int:
                return by


def test_decorated_method_without_its_object_is_refused_too() -> None:
    server = Server("test")

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def run(*arguments: Any, **options: Any) -> Any:
            return await function(*arguments, **options)

        return run

    with pytest.raises(RegistrationError, match=r"Counter\.add is a method without its object"):

        class Counter:
            @server.tool
            @timed
            async def add(self, by: int) -> int:
                return by


def test_classmethod_inside_its_class_is_refused_with_the_fix() -> None:
    server = Server("test")
    with pytest.raises(RegistrationError, match=r"register a classmethod after its class, as MyClass\.add"):

        class Counter:
            @server.tool
            @classmethod
            async def add(cls, by: int) -> int:
                return by


async def test_static_and_class_methods_are_tools() -> None:
    server = Server("test")

    class Counter:
        @staticmethod
        @server.tool
        async def twice(number: int) -> int:
            return 2 * number

        @classmethod
        async def thrice(cls, number: int) -> int:
            return 3 * number

    server.tools.add(Counter.thrice)
    assert (await call(server, "twice", {"number": 2}))["structuredContent"] == {"result": 4}
    assert (await call(server, "thrice", {"number": 2}))["structuredContent"] == {"result": 6}


async def test_function_may_have_a_parameter_named_self() -> None:
    server = Server("test")

    @server.tool
    async def show(self: str) -> str:
        return self

    assert (await call(server, "show", {"self": "me"}))["content"][0]["text"] == "me"
