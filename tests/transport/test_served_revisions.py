"""A server that serves only some revisions: `Server(revisions=…)`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay import RegistrationError, Scope, Server
from assay.revisions.registry import DATES, HANDSHAKE, PER_REQUEST
from tests.driving.asgi import AsgiPeer
from tests.driving.client import SESSIONED, TRANSPORTS, connect
from tests.driving.messages import call, initialize, request
from tests.transport.subject import Subject

OLD, MIDDLE, NEW = "2025-03-26", "2025-06-18", "2025-11-25"
ALONE = PER_REQUEST[-1].date
UNSUPPORTED = -32022


def declared(version: str, method: str = "tools/list") -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return request(method, {"_meta": meta})


def mirrored(version: str, method: str = "tools/list") -> dict[str, str | None]:
    return {"mcp-protocol-version": version, "mcp-method": method}


async def handled(server: Server, message: Any, **scope: Any) -> dict[str, Any]:
    answer = await server.handle(message, scope=Scope(**scope))
    assert answer is not None
    return dict(json.loads(answer))


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    ("served", "requested", "agreed"),
    [
        ([MIDDLE], MIDDLE, MIDDLE),
        ([MIDDLE], NEW, MIDDLE),
        ([MIDDLE], OLD, MIDDLE),
        ([NEW, OLD], MIDDLE, NEW),
        ([ALONE, OLD], NEW, OLD),
    ],
)
async def test_the_newest_served_revision_is_negotiated(
    transport: str, served: list[str], requested: str, agreed: str
) -> None:
    async with connect(Subject(revisions=served).server, transport, HANDSHAKE[-1], handshake=False) as client:
        result = await client.result("initialize", initialize(requested)["params"])
        assert result["protocolVersion"] == agreed


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_without_a_handshake_revision_initialize_is_refused_with_what_is_served(transport: str) -> None:
    server = Subject(revisions=[ALONE]).server
    async with connect(server, transport, HANDSHAKE[-1], handshake=False) as client:
        error = await client.error("initialize", initialize(NEW)["params"])
    assert error["code"] == UNSUPPORTED
    assert error["data"] == {"supported": [ALONE], "requested": NEW}


async def test_a_declaration_of_a_revision_that_is_not_served_is_refused() -> None:
    server = Subject(revisions=[NEW, OLD]).server
    error = (await handled(server, declared(ALONE)))["error"]
    assert (error["code"], error["data"]) == (UNSUPPORTED, {"supported": [NEW, OLD], "requested": ALONE})
    async with AsgiPeer(server.asgi()) as client:
        answer = await client.post(declared(ALONE), headers=mirrored(ALONE))
    assert (answer.status, answer.json["error"]["data"]["supported"]) == (400, [NEW, OLD])


@pytest.mark.parametrize("version", ["1999-01-01", MIDDLE])
async def test_an_invalid_declaration_is_answered_with_what_is_served(version: str) -> None:
    server = Subject(revisions=[ALONE, NEW]).server
    error = (await handled(server, declared(version)))["error"]
    assert (error["code"], error["data"]["supported"]) == (UNSUPPORTED, [ALONE, NEW])
    async with AsgiPeer(server.asgi()) as client:
        answer = await client.post(declared(version), headers=mirrored(version))
    assert (answer.status, answer.json["error"]["data"]["supported"]) == (400, [ALONE, NEW])


async def test_discovery_lists_what_is_served() -> None:
    server = Subject(revisions=[OLD, ALONE]).server
    result = (await handled(server, declared(ALONE, "server/discover")))["result"]
    assert result["supportedVersions"] == [ALONE, OLD]


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_version_header_of_a_revision_that_is_not_served_gets_400(version: str) -> None:
    server = Subject(revisions=[MIDDLE]).server
    async with AsgiPeer(server.asgi()) as client:
        answer = await client.post(request("tools/list"), headers={"mcp-protocol-version": version})
        assert answer.status == 400
        assert answer.json["error"]["data"] == {"supported": [MIDDLE], "requested": version}
        await client.shake_hands(next(revision for revision in HANDSHAKE if revision.date == MIDDLE))
        other = await client.post(request("ping"), headers={"mcp-protocol-version": version})
        assert other.status == 400
        following = await client.send("GET", headers={"mcp-protocol-version": version})
        assert following.status == 400
        assert (await client.post(request("ping"))).status == 200


async def test_without_a_version_the_assumed_revision_must_be_served() -> None:
    async with AsgiPeer(Subject(revisions=[NEW]).server.asgi()) as client:
        answer = await client.post(request("tools/list"))
        assert (answer.status, answer.json["error"]["data"]["requested"]) == (400, OLD)
    async with AsgiPeer(Subject(revisions=[OLD]).server.asgi()) as client:
        assert (await client.post(request("tools/list"))).status == 200


@pytest.mark.parametrize("sessions", ["optional", "off"])
async def test_the_handshake_works_without_the_assumed_revision(sessions: str) -> None:
    async with AsgiPeer(Subject(revisions=[NEW]).server.asgi(sessions=sessions)) as client:
        answer = await client.post(initialize(NEW))
        assert (answer.status, answer.json["result"]["protocolVersion"]) == (200, NEW)


async def test_a_batch_of_a_revision_that_is_not_served_gets_400() -> None:
    async with AsgiPeer(Subject(revisions=[NEW]).server.asgi()) as client:
        answer = await client.post([request("ping")], headers={"mcp-protocol-version": OLD})
    assert (answer.status, f"supported: {NEW}" in answer.json["error"]["message"]) == (400, True)


@pytest.mark.parametrize("transport", SESSIONED)
async def test_requests_of_a_session_are_served(transport: str) -> None:
    server = Subject(revisions=[NEW]).server
    async with connect(server, transport, HANDSHAKE[-1], handshake=False) as client:
        assert (await client.result("initialize", initialize(NEW)["params"]))["protocolVersion"] == NEW
        await client.notify("notifications/initialized")
        assert await client.result("ping") == {}
        assert (await client.result("tools/list"))["tools"]


async def test_a_request_before_the_handshake_names_what_is_served() -> None:
    server = Subject(revisions=[NEW]).server
    session = server.open_session(lambda data: None)
    error = (await handled(server, request("tools/list"), session=session))["error"]
    assert error["data"] == {"supported": [NEW]}
    assert (await handled(server, request("ping"), session=session))["result"] == {}


async def test_a_message_without_a_session_has_the_newest_served_revision() -> None:
    server = Subject(revisions=[OLD]).server
    assert (await handled(server, call("add", a=1, b=2)))["result"]["content"]
    error = (await handled(server, request("ping"), revision=NEW))["error"]
    assert error["data"] == {"supported": [OLD]}


def test_the_choice_is_kept_in_order_of_time() -> None:
    assert Server("s").revisions == DATES
    assert Server("s", revisions=[NEW, OLD, NEW]).revisions == (OLD, NEW)


@pytest.mark.parametrize(
    ("revisions", "problem"),
    [
        ([], f"no revision would be served: choose from {', '.join(DATES)}"),
        (["2025-06-19"], f"unknown revision: '2025-06-19'; choose from {', '.join(DATES)}"),
        ([None], "unknown revision: None"),
        (NEW, f"revisions must be a list of dates: write ['{NEW}']"),
    ],
)
def test_a_wrong_choice_is_refused_with_the_right_ones(revisions: Any, problem: str) -> None:
    with pytest.raises(RegistrationError) as raised:
        Server("s", revisions=revisions)
    assert problem in str(raised.value)


def test_a_choice_can_be_narrowed_but_not_widened() -> None:
    server = Server("s", revisions=[OLD, NEW])
    with pytest.raises(RegistrationError, match=f"unknown revision: '{MIDDLE}'; choose from {OLD}, {NEW}"):
        server.serve_only([MIDDLE])
    server.serve_only([NEW])
    assert server.revisions == (NEW,)
