"""A serverless function around `Server.handle`."""

import asyncio
import json

import pytest

from assay.revisions.registry import HANDSHAKE
from examples.handle_anywhere import function
from tests.examples import process

GREETING = "Hello Ada, says the server to {}."


@pytest.mark.parametrize(("user", "whom"), [("bob", "bob"), (None, "a stranger")])
def test_a_call_is_answered_with_the_user_in_the_scope(user: str | None, whom: str) -> None:
    answer = function({"body": json.dumps(process.tool_call("greet", name="Ada")), "user": user})
    assert answer["statusCode"] == 200
    result = json.loads(answer["body"])["result"]
    assert result == {"content": [{"type": "text", "text": GREETING.format(whom)}], "isError": False}


@pytest.mark.parametrize("revision", [revision.date for revision in HANDSHAKE])
def test_a_handshake_needs_no_session(revision: str) -> None:
    answer = function({"body": json.dumps(process.initialize(revision))})
    assert json.loads(answer["body"])["result"]["protocolVersion"] == revision
    assert function({"body": json.dumps(process.INITIALIZED)}) == {"statusCode": 202}


def test_nonsense_is_answered_as_nonsense() -> None:
    answer = json.loads(function({"body": "{"})["body"])
    assert answer["error"]["code"] == -32700
    assert "id" not in answer


async def test_the_example_runs_as_a_program() -> None:
    async with asyncio.timeout(process.GUARD), process.started("examples/handle_anywhere.py") as program:
        assert program.stdout is not None
        assert GREETING.format("bob") in (await program.stdout.read()).decode()
        assert await program.wait() == 0
