"""Tools that ask the client, by request and by retry."""

from __future__ import annotations

from typing import Any

import pytest

from assay.bundled.reference import make_server
from assay.bundled.reference.client_tools import PAGE
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from tests.bundled.reference.driving import client_of, text_of
from tests.driving.client import SESSIONED
from tests.driving.describing import DescribingClient, accepted, answering, sampled
from tests.driving.describing import text_of as text_of_described

ASKABLE: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}
EVERY = pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
IN_SESSION = pytest.mark.parametrize("transport", SESSIONED)
WITH_FORMS = pytest.mark.parametrize("revision", [r for r in HANDSHAKE if "form" in r.elicitation], ids=str)
WITH_PAGES = pytest.mark.parametrize("revision", [r for r in HANDSHAKE if "url" in r.elicitation], ids=str)
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "Blue."}, "model": "m"}


@IN_SESSION
@WITH_FORMS
@pytest.mark.parametrize(
    ("response", "text"),
    [
        ({"action": "accept", "content": {"name": "Ada", "colour": "red"}}, "Ada likes red"),
        ({"action": "decline"}, "The user chose to decline"),
        ({"action": "cancel"}, "The user chose to cancel"),
    ],
)
async def test_the_user_is_asked(transport: str, revision: Revision, response: Any, text: str) -> None:
    async with client_of(make_server(), revision, transport, capabilities=ASKABLE) as client:
        started = await client.begin("tools/call", {"name": "ask_user", "arguments": {"question": "Who?"}})
        request = await client.received("elicitation/create")
        assert request["params"]["message"] == "Who?"
        await client.respond(request, result=response)
        assert text_of((await client.answer(started))["result"]) == text


@EVERY
async def test_the_model_and_the_roots_are_asked(revision: Revision) -> None:
    async with client_of(make_server(), revision, capabilities=ASKABLE) as client:
        started = await client.begin("tools/call", {"name": "ask_model", "arguments": {"prompt": "Which?"}})
        await client.respond(await client.received("sampling/createMessage"), result=SAMPLED)
        assert text_of((await client.answer(started))["result"]) == "m: Blue."
        started = await client.begin("tools/call", {"name": "ask_roots", "arguments": {}})
        roots = {"roots": [{"uri": "file:///home"}]}
        await client.respond(await client.received("roots/list"), result=roots)
        assert text_of((await client.answer(started))["result"]) == "file:///home"


@pytest.mark.parametrize(
    ("action", "text"),
    [("accept", "The user has opened the page"), ("decline", "The user chose to decline")],
)
@WITH_PAGES
async def test_the_user_is_sent_to_a_page_and_its_completion_is_announced(
    revision: Revision, action: str, text: str
) -> None:
    async with client_of(make_server(), revision, capabilities={"elicitation": {"url": {}}}) as client:
        started = await client.begin("tools/call", {"name": "ask_visit", "arguments": {}})
        request = await client.received("elicitation/create")
        assert request["params"]["mode"] == "url" and request["params"]["url"] == PAGE
        await client.respond(request, result={"action": action})
        if action == "accept":
            notification = await client.received("notifications/elicitation/complete")
            assert notification["params"]["elicitationId"] == request["params"]["elicitationId"]
        assert text_of((await client.answer(started))["result"]) == text


@EVERY
@pytest.mark.parametrize("tool", ["ask_user", "ask_model", "ask_roots", "ask_visit"])
async def test_a_client_that_cannot_be_asked_gets_an_error(revision: Revision, tool: str) -> None:
    arguments = {"prompt": "Well?"} if tool == "ask_model" else {}
    async with client_of(make_server(), revision) as client:
        assert (await client.call(tool, **arguments))["isError"] is True


async def test_questions_are_answered_by_retry() -> None:
    client = DescribingClient(make_server())
    reply = await client.call("ask_user")
    assert list(reply["inputRequests"]) == ["user"]
    result = await client.call("ask_user", answering(reply, user=accepted(name="Ada", colour="green")))
    assert text_of_described(result) == "Ada likes green"
    reply = await client.call("ask_model", prompt="Which?")
    result = await client.call("ask_model", answering(reply, model=sampled("Red.")), prompt="Which?")
    assert text_of_described(result) == "m: Red."
