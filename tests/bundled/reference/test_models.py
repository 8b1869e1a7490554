"""The choice of a model is stored per session, or per principal without one."""

from __future__ import annotations

from typing import Any

import pytest

from assay import Server
from assay.bundled.reference import make_server
from assay.bundled.reference.models import DEFAULT, MODELS
from assay.revisions.registry import HANDSHAKE, REVISIONS
from assay.revisions.revision import Revision
from tests.bundled.reference.driving import ask_described, client_of
from tests.driving.asgi import AsgiPeer
from tests.driving.client import SESSIONED
from tests.driving.describing import describe, mirrors
from tests.driving.messages import request

NEWEST = HANDSHAKE[-1]
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "Yes."}, "model": "m"}


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
@pytest.mark.parametrize("transport", SESSIONED)
async def test_a_choice_belongs_to_its_session(transport: str, revision: Revision) -> None:
    server = make_server()
    async with (
        client_of(server, revision, transport) as first,
        client_of(server, revision, transport) as second,
    ):
        assert await first.result("models/select", {"name": "claude-v2"}) == {"active": "claude-v2"}
        assert (await first.result("models/list"))["active"] == "claude-v2"
        assert (await second.result("models/list"))["active"] == DEFAULT
    async with client_of(server, revision, transport) as three:
        assert (await three.result("models/list"))["active"] == DEFAULT


async def test_models_are_listed_with_what_a_user_needs_to_choose() -> None:
    async with client_of(make_server(), NEWEST) as client:
        listed = (await client.result("models/list"))["models"]
    assert [model["name"] for model in listed] == list(MODELS)
    for model in listed:
        assert set(model) == {"name", "description", "contextLength"}
        assert isinstance(model["contextLength"], int)


@pytest.mark.parametrize("params", [{}, {"name": "none"}, {"name": 5}, {"name": "x" * 100_000}, None])
async def test_an_unknown_model_is_refused_and_changes_nothing(params: Any) -> None:
    async with client_of(make_server(), NEWEST) as client:
        await client.result("models/select", {"name": "claude-v2"})
        error = await client.error("models/select", params)
        assert error["code"] == -32602 and len(error["message"]) < 300
        assert (await client.result("models/list"))["active"] == "claude-v2"


async def test_the_choice_becomes_a_model_preference() -> None:
    async with client_of(make_server(), NEWEST, capabilities={"sampling": {}}) as client:
        await client.result("models/select", {"name": "gpt-3.5-turbo"})
        started = await client.begin("tools/call", {"name": "ask_model", "arguments": {"prompt": "Well?"}})
        request = await client.received("sampling/createMessage")
        assert request["params"]["modelPreferences"] == {"hints": [{"name": "gpt-3.5-turbo"}]}
        await client.respond(request, result=SAMPLED)
        assert (await client.answer(started))["result"]["content"][0]["text"] == "m: Yes."


async def active(server: Server, principal: Any) -> str:
    answer = await ask_described(server, "models/list", principal)
    name: str = answer["result"]["active"]
    return name


async def test_without_a_session_it_belongs_to_the_principal() -> None:
    server = make_server()
    await ask_described(server, "models/select", "ada", name="claude-v2")
    assert await active(server, "ada") == "claude-v2"
    assert await active(server, "bob") == DEFAULT
    assert await active(server, None) == DEFAULT


@pytest.mark.parametrize("revision", REVISIONS, ids=str)
async def test_over_http_principals_do_not_see_each_others_choice(revision: Revision) -> None:
    app = make_server().asgi(stream="off")

    async def ask(principal: str | None, method: str, **params: Any) -> Any:
        described = revision not in HANDSHAKE
        message = describe(method, params) if described else request(method, params)
        headers = mirrors(message) if described else {"mcp-protocol-version": revision.date}
        async with AsgiPeer(app, principal=principal) as peer:
            answer = await peer.post(message, headers=headers)
        assert answer.status == 200, answer.body
        return answer.json["result"]["active"]

    assert await ask("ada", "models/select", name="claude-v2") == "claude-v2"
    assert await ask("ada", "models/list") == "claude-v2"
    assert await ask("bob", "models/list") == DEFAULT
    assert await ask(None, "models/list") == DEFAULT


async def test_one_principal_may_hold_two_sessions_with_two_choices() -> None:
    app = make_server().asgi()
    async with (
        await AsgiPeer(app, principal="ada").shake_hands(NEWEST) as first,
        await AsgiPeer(app, principal="ada").shake_hands(NEWEST) as second,
    ):
        for client, name in ((first, "claude-v2"), (second, "gpt-3.5-turbo")):
            await client.post(request("models/select", {"name": name}))
        assert (await first.post(request("models/list"))).json["result"]["active"] == "claude-v2"
        assert (await second.post(request("models/list"))).json["result"]["active"] == "gpt-3.5-turbo"
