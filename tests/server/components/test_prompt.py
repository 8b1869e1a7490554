"""Prompts: from arguments to messages."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest

from assay import (
    Audio,
    Contents,
    EmbeddedResource,
    Icon,
    Image,
    Message,
    PromptResult,
    RegistrationError,
    RpcError,
    Server,
    Text,
)
from tests.server.scripted import ask


def prompting(value: Any) -> Server:
    server = Server("test")

    @server.prompt(description="About it")
    async def it() -> Any:
        return value

    return server


async def get(server: Server, name: str, arguments: Any = None) -> Any:
    answer = await ask(server, "prompts/get", name=name, arguments=arguments)
    return answer.get("result", answer.get("error"))


def user(content: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": content}


HELLO = user({"type": "text", "text": "hello"})


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("hello", [HELLO]),
        (Text("hello"), [HELLO]),
        (Message("assistant", Text("hello")), [{**HELLO, "role": "assistant"}]),
        (["hello", Text("hello"), Message("user", Text("hello"))], [HELLO] * 3),
        (("hello",), [HELLO]),
        ([], []),
        (Image(b"\xff", "image/png"), [user({"type": "image", "data": "/w==", "mimeType": "image/png"})]),
        (Audio(b"\xff", "audio/wav"), [user({"type": "audio", "data": "/w==", "mimeType": "audio/wav"})]),
        (
            EmbeddedResource(Contents("a:b", text="c")),
            [user({"type": "resource", "resource": {"uri": "a:b", "text": "c"}})],
        ),
    ],
)
async def test_value_becomes_messages(value: Any, messages: list[Any]) -> None:
    assert await get(prompting(value), "it") == {"messages": messages}


async def test_whole_result_is_passed_through() -> None:
    result = PromptResult([Message("user", Text("hello"))], "own", {"com.example/a": 1})
    assert await get(prompting(result), "it") == {
        "messages": [HELLO],
        "description": "own",
        "_meta": {"com.example/a": 1},
    }


@pytest.mark.parametrize("value", [None, 3, {"role": "user"}, ["hello", 3]])
async def test_value_other_than_a_message_is_an_internal_error(value: Any, caplog: Any) -> None:
    assert await get(prompting(value), "it") == {"code": -32603, "message": "internal error"}
    assert [record.message for record in caplog.records] == ["prompts/get failed"]


async def test_definition_is_complete() -> None:
    server = Server("test")

    @server.prompt(title="Review", icons=[Icon("https://example.com/a.png")], meta={"com.example/a": 1})
    def review(code: Annotated[str, "What to look at"], language: str = "python") -> str:
        """Review code.

        Args:
            language: What it is written in
        """
        return code

    assert (await ask(server, "prompts/list"))["result"] == {
        "prompts": [
            {
                "name": "review",
                "title": "Review",
                "description": "Review code.",
                "arguments": [
                    {"name": "code", "description": "What to look at", "required": True},
                    {"name": "language", "description": "What it is written in"},
                ],
                "icons": [{"src": "https://example.com/a.png"}],
                "_meta": {"com.example/a": 1},
            }
        ]
    }


async def test_prompt_without_arguments_lists_none() -> None:
    assert (await ask(prompting(""), "prompts/list"))["result"] == {
        "prompts": [{"name": "it", "description": "About it"}]
    }


def typed() -> Server:
    server = Server("test")

    @server.prompt
    def typed(count: int, mood: Literal["glad", "sad"] = "glad") -> str:
        return repr((count, mood))

    return server


@pytest.mark.parametrize(
    ("arguments", "text"), [({"count": "3"}, "(3, 'glad')"), ({"count": "3", "mood": "sad"}, "(3, 'sad')")]
)
async def test_arguments_reach_the_function_typed(arguments: dict[str, str], text: str) -> None:
    assert (await get(typed(), "typed", arguments))["messages"] == [user({"type": "text", "text": text})]


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        {},
        {"mood": "sad"},
        {"count": "many"},
        {"count": "1", "mood": "angry"},
        {"count": "1", "more": "2"},
        {"count": 1},
        [],
    ],
)
async def test_invalid_arguments_are_invalid_params(arguments: Any) -> None:
    assert (await get(typed(), "typed", arguments))["code"] == -32602


async def test_unknown_prompt_is_invalid_params() -> None:
    assert await get(typed(), "missing") == {"code": -32602, "message": "unknown prompt: missing"}


async def test_registry_can_be_used_from_code() -> None:
    server = Server("test")
    server.prompts.add(lambda a: a, name="echo")
    assert (len(server.prompts), [prompt.name for prompt in server.prompts.list()]) == (1, ["echo"])
    assert await server.prompts.get("echo", {"a": "b"}) == PromptResult([Message("user", Text("b"))])
    server.prompts.remove("echo")
    assert (len(server.prompts), server.prompts.list()) == (0, [])


async def test_getting_an_unknown_prompt_from_code_is_an_error() -> None:
    with pytest.raises(RpcError) as caught:
        await Server("test").prompts.get("missing")
    assert caught.value.code == -32602


def test_duplicate_name_is_refused() -> None:
    server = prompting("")
    with pytest.raises(RegistrationError, match="'it'"):
        server.prompts.add(lambda: "", name="it")


@pytest.mark.parametrize("version", ["1", "1.0", "v1.0.0", "01.0.0", "1.0.0-rc1", ""])
def test_version_is_three_numbers(version: str) -> None:
    with pytest.raises(RegistrationError, match=r"1\.2\.0"):
        Server("test").prompt(version=version)(lambda: "")
