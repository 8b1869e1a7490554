"""A function around `Server.http`."""

import asyncio
import json
from typing import Any

import pytest

from assay.revisions.registry import HANDSHAKE
from examples.handle_anywhere import function
from tests.examples import process

GREETING = "Hello Ada, says the server to {}."


HEADERS = {"Host": "localhost", "Content-Type": "application/json", "Accept": "application/json"}


def post(body: Any, user: str | None = None, **headers: str) -> dict[str, Any]:
    text = body if isinstance(body, str) else json.dumps(body)
    event = {"method": "POST", "path": "/mcp", "headers": HEADERS | headers, "body": text}
    return function(event if user is None else event | {"user": user})


@pytest.mark.parametrize(("user", "whom"), [("bob", "bob"), (None, "a stranger")])
def test_a_call_is_answered_with_the_user_in_the_scope(user: str | None, whom: str) -> None:
    answer = post(process.tool_call("greet", name="Ada"), user)
    assert answer["status"] == 200
    result = json.loads(answer["body"])["result"]
    assert result == {"content": [{"type": "text", "text": GREETING.format(whom)}], "isError": False}


@pytest.mark.parametrize("revision", [revision.date for revision in HANDSHAKE])
def test_a_handshake_needs_no_session(revision: str) -> None:
    answer = post(process.initialize(revision))
    assert json.loads(answer["body"])["result"]["protocolVersion"] == revision
    accepted = post(process.INITIALIZED)
    assert (accepted["status"], accepted["body"]) == (202, "")


def test_bad_json_gets_400() -> None:
    answer = post("{")
    assert (answer["status"], answer["headers"]["content-type"]) == (400, "application/json")
    assert json.loads(answer["body"])["error"]["code"] == -32700


def test_a_foreign_origin_gets_403() -> None:
    assert post(process.request("ping"), Origin="https://evil.example")["status"] == 403


async def test_the_example_runs_as_a_program() -> None:
    async with asyncio.timeout(process.GUARD), process.started("examples/handle_anywhere.py") as program:
        assert program.stdout is not None
        assert GREETING.format("bob") in (await program.stdout.read()).decode()
        assert await program.wait() == 0
