"""The profile as a whole: what it leaves unchanged, and what it enforces."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay import RegistrationError, Scope, Server, Strictness
from assay.profile import Profile
from tests.driving.describing import DescribingClient
from tests.profile.market import DATES, RETENTION, market
from tests.server.scripted import BATCHING, ask

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


async def batch(server: Server) -> Any:
    answer = await server.handle(json.dumps([PING]), scope=Scope(revision=BATCHING))
    return json.loads(answer or b"null")


async def test_batches_are_served_where_the_revision_has_them_unless_they_are_forbidden() -> None:
    refused = await batch(market(Profile(batch=False)))
    assert refused["error"] == {"code": -32600, "message": "this server does not accept batches"}
    assert await batch(market()) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_what_else_the_server_insists_on_stays() -> None:
    server = market(Profile(batch=False), strictness=Strictness(statuses=True))
    assert server.strictness == Strictness(statuses=True, single=True)


@pytest.mark.parametrize("date", DATES[:-1])
async def test_other_methods_are_served_as_before(date: str) -> None:
    plain = Server("plain")
    plain.tool(name="one")(lambda: None)
    profiled = Server("plain")
    profiled.tool(name="one")(lambda: None)
    profiled.use(Profile())
    for method in ("ping", "tools/list", "resources/list", "no/such"):
        assert await ask(profiled, method, revision=date) == await ask(plain, method, revision=date)


async def test_official_types_take_every_result_of_the_newest_revision() -> None:
    client = DescribingClient(market())
    requests: dict[str, dict[str, Any]] = {
        "tools/list": {},
        "prompts/list": {},
        "prompts/get": {"name": "review", "arguments": {"code": "x"}},
        "resources/read": {"uri": "file:///picture.png"},
        "tools/call": {"name": "write", "arguments": {"text": "x"}},
    }
    for method, params in requests.items():
        assert (await client.result(method, params))["resultType"] == "complete"


def test_a_tier_that_does_not_exist_is_found_when_it_is_put_around_a_server() -> None:
    for uri in ("file:///a", "file:///{a}"):
        server = Server("odd")
        server.resource(uri, name="odd", meta={RETENTION: {"tier": "x"}})(lambda a="": "x")
        with pytest.raises(ValueError, match="odd: unknown retention tier: 'x'"):
            server.use(Profile())


def test_one_profile_stands_around_one_server() -> None:
    profile = Profile()
    Server("first").use(profile)
    with pytest.raises(RegistrationError, match="create another for this one"):
        Server("second").use(profile)
