"""Prompts and the completion of their arguments."""

from __future__ import annotations

from typing import Any

import pytest

from assay.bundled.reference import make_server
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from tests.bundled.reference.driving import client_of

CODE = "def hello():\n    print('world')"
EVERY = pytest.mark.parametrize("revision", HANDSHAKE, ids=str)


@EVERY
async def test_prompts_are_listed_with_their_arguments(revision: Revision) -> None:
    async with client_of(make_server(), revision) as client:
        prompts = (await client.result("prompts/list"))["prompts"]
    required = {
        prompt["name"]: [
            (argument["name"], argument.get("required", False)) for argument in prompt["arguments"]
        ]
        for prompt in prompts
    }
    assert required == {
        "code_review": [("code", True), ("language", False)],
        "bug_report": [("summary", True), ("steps", False), ("expected", False)],
        "refactor": [("code", True), ("goal", False), ("language", False)],
    }
    assert prompts[0]["title"] == "Request Code Review"


@EVERY
@pytest.mark.parametrize(("options", "language"), [({}, "Python"), ({"language": "Rust"}, "Rust")])
async def test_code_review_has_the_code_and_language(
    revision: Revision, options: dict[str, str], language: str
) -> None:
    params = {"name": "code_review", "arguments": {"code": CODE, **options}}
    async with client_of(make_server(), revision) as client:
        prompt = await client.result("prompts/get", params)
    text = f"Please review this {language} code:\n{CODE}"
    assert prompt["description"] == "Code review prompt"
    assert prompt["messages"] == [{"role": "user", "content": {"type": "text", "text": text}}]


@pytest.mark.parametrize(
    ("name", "arguments", "roles"),
    [("bug_report", {"summary": "It burns"}, ["user", "assistant"]), ("refactor", {"code": CODE}, ["user"])],
)
async def test_other_prompts_have_valid_roles(name: str, arguments: dict[str, str], roles: list[str]) -> None:
    async with client_of(make_server(), HANDSHAKE[-1]) as client:
        messages = (await client.result("prompts/get", {"name": name, "arguments": arguments}))["messages"]
    assert [message["role"] for message in messages] == roles
    assert next(iter(arguments.values())) in messages[0]["content"]["text"]


@pytest.mark.parametrize(
    "params",
    [
        {"name": "code_review"},
        {"name": "code_review", "arguments": {}},
        {"name": "code_review", "arguments": {"code": 5}},
        {"name": "code_review", "arguments": {"code": "x", "tone": "kind"}},
        {"name": "nothing"},
        {},
    ],
)
async def test_invalid_arguments_are_refused(params: dict[str, Any]) -> None:
    async with client_of(make_server(), HANDSHAKE[-1]) as client:
        assert (await client.error("prompts/get", params))["code"] == -32602


@pytest.mark.parametrize(
    ("typed", "values"),
    [("Py", ["Python"]), ("java", ["Java", "JavaScript"]), ("zzz", []), ("ru", ["Ruby", "Rust"])],
)
@pytest.mark.parametrize("prompt", ["code_review", "refactor"])
async def test_languages_are_completed(prompt: str, typed: str, values: list[str]) -> None:
    params = {"ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": "language", "value": typed}}
    async with client_of(make_server(), HANDSHAKE[-1]) as client:
        suggested = (await client.result("completion/complete", params))["completion"]["values"]
    assert suggested[: len(values)] == values
    assert values or not suggested
