"""Both kinds of client on one pair of pipes or one WebSocket: each message is served by its own
declaration."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from assay.revisions.registry import DATES, HANDSHAKE
from assay.server.server import Server
from tests.driving.answer import PATIENCE
from tests.driving.describing import CAPABILITIES, REVISION, SUBSCRIPTION, VERSION, describe
from tests.driving.links import Link, PipeLink, SocketLink
from tests.driving.messages import call, initialize, notification, request
from tests.driving.process import stdio_process
from tests.server.scripted import quiescence, reached
from tests.transport.subject import WATCHED, Subject

NEWEST = HANDSHAKE[-1]
NEGOTIATED = ": it is negotiated by initialize, not declared by each request"
SUPPORTED = [*reversed(DATES)]
ADD = {"name": "add", "arguments": {"a": 1, "b": 2}}


class Wire:
    """Everything that the server sent, in order."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._changed = asyncio.Event()
        self.link: Link

    def take(self, message: Any) -> None:
        self.messages.append(message)
        self._changed.set()

    async def until(self, find: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while (message := next(filter(find, self.messages), None)) is None:
                self._changed.clear()
                await self._changed.wait()
        return message

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        await self.link.send(message)
        return await self.answer(message["id"])

    async def answer(self, request_id: Any) -> dict[str, Any]:
        return await self.until(lambda each: each.get("id") == request_id and "method" not in each)

    async def received(self, method: str) -> dict[str, Any]:
        return await self.until(lambda each: each.get("method") == f"notifications/{method}")

    async def shake_hands(self, **capabilities: Any) -> None:
        answer = await self.ask(initialize(NEWEST, capabilities))
        assert answer["result"]["protocolVersion"] == NEWEST.date
        await self.link.send(notification("notifications/initialized"))

    async def cancel(self, request_id: Any) -> None:
        await self.link.send(notification("notifications/cancelled", {"requestId": request_id}))


Wired = Callable[[Server], contextlib.AbstractAsyncContextManager[Wire]]


@pytest.fixture(params=[PipeLink, SocketLink], ids=["stdio", "websocket"])
def wired(request: pytest.FixtureRequest) -> Wired:
    @contextlib.asynccontextmanager
    async def wire_up(server: Server) -> AsyncIterator[Wire]:
        wire = Wire()
        wire.link = await request.param.open(server, wire.take)
        try:
            yield wire
        finally:
            await wire.link.close()

    return wire_up


def lacking(*names: str) -> dict[str, Any]:
    return {"code": -32602, "message": f"_meta needs {' and '.join(names)}", "data": {"supported": SUPPORTED}}


@pytest.mark.parametrize("handshake", ["none", "before"])
@pytest.mark.parametrize(
    ("message", "error"),
    [
        (request("server/discover"), lacking(VERSION, CAPABILITIES)),
        (request("server/discover", {"_meta": {}}), lacking(VERSION, CAPABILITIES)),
        (request("server/discover", {"_meta": {VERSION: REVISION.date}}), lacking(CAPABILITIES)),
        (request("subscriptions/listen"), lacking(VERSION, CAPABILITIES)),
        (request("tools/list", {"_meta": {VERSION: REVISION.date}}), lacking(CAPABILITIES)),
        *(
            (
                describe("server/discover", meta={VERSION: version}),
                {
                    "code": -32022,
                    "message": f"unsupported protocol version: {version}{reason}",
                    "data": {"supported": SUPPORTED, "requested": version},
                },
            )
            for version, reason in (("1999-01-01", ""), *((each.date, NEGOTIATED) for each in HANDSHAKE))
        ),
        *(
            (describe(method), {"code": -32601, "message": f"method not found: {method}"})
            for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe", "no/such")
        ),
    ],
)
async def test_bad_declaration_is_refused(
    wired: Wired, message: dict[str, Any], error: dict[str, Any], handshake: str
) -> None:
    """basic/index#meta: required in every request, whether or not a session is open."""
    async with wired(Subject().server) as wire:
        if handshake == "before":
            await wire.shake_hands()
        assert await wire.ask(message) == {"jsonrpc": "2.0", "id": 1, "error": error}


async def test_request_without_declaration_or_session_is_refused_with_both_ways(wired: Wired) -> None:
    """basic/versioning: the error names what either kind of client has to send."""
    async with wired(Subject().server) as wire:
        error = (await wire.ask(call("add", a=1, b=2)))["error"]
        assert (error["code"], error["data"]) == (-32602, {"supported": [*DATES]})
        assert "initialize" in error["message"]
        assert VERSION in error["message"]
        assert (await wire.ask(request("ping", request_id=2)))["result"] == {}


async def test_probe_is_answered_and_opens_no_session(wired: Wired) -> None:
    """VER-11."""
    async with wired(Subject().server) as wire:
        result = (await wire.ask(describe("server/discover")))["result"]
        assert (result["resultType"], result["supportedVersions"]) == ("complete", SUPPORTED)
        assert result["capabilities"]["tools"] == {"listChanged": True}
        assert "error" in await wire.ask(call("add", 2, a=1, b=2))
        await wire.shake_hands()
        assert "result" in await wire.ask(call("add", 3, a=1, b=2))


async def test_both_kinds_are_served_in_any_order(wired: Wired) -> None:
    """Before, during and after a handshake, without affecting each other."""
    described = {"a": 1, "resultType": "complete", "structuredContent": 3}
    async with wired(Subject().server) as wire:
        results = [(await wire.ask(describe("tools/call", ADD, 1)))["result"]]
        await wire.ask(initialize(NEWEST))
        results.append((await wire.ask(describe("tools/call", ADD, 2)))["result"])
        await wire.link.send(notification("notifications/initialized"))
        plain = (await wire.ask(call("add", 3, a=1, b=2)))["result"]
        results.append((await wire.ask(describe("tools/call", ADD, 4)))["result"])
        assert plain["structuredContent"] == {"result": 3}
        assert "resultType" not in plain
        for result in results:
            assert {"a": 1} | {
                name: result[name] for name in ("resultType", "structuredContent")
            } == described


async def test_both_kinds_are_served_at_once(wired: Wired) -> None:
    async with wired(Subject().server) as wire:
        await wire.shake_hands()
        meeting = {"name": "meet", "arguments": {"parties": 2}}
        await wire.link.send(describe("tools/call", meeting, "described"))
        await wire.link.send(request("tools/call", meeting, "plain"))
        for request_id in ("described", "plain"):
            assert (await wire.answer(request_id))["result"]["content"][0]["text"] == "met"


async def test_log_level_of_the_session_does_not_apply_to_self_describing_requests(wired: Wired) -> None:
    async with wired(Subject().server) as wire:
        await wire.shake_hands()
        await wire.ask(request("logging/setLevel", {"level": "debug"}, "level"))
        speech = {"name": "say", "arguments": {"level": "error", "text": "x"}}
        await wire.ask(describe("tools/call", speech, "described"))
        assert [each for each in wire.messages if each.get("method") == "notifications/message"] == []
        await wire.ask(request("tools/call", speech, "plain"))
        await wire.received("message")


async def test_capabilities_of_the_session_do_not_apply_to_self_describing_requests(wired: Wired) -> None:
    """META-09 (basic/index#meta). Questions are asked by a result, never by a request
    (basic/patterns/mrtr)."""
    async with wired(Subject().server) as wire:
        await wire.shake_hands(roots={})
        answer = await wire.ask(describe("tools/call", {"name": "roots"}, "lacking"))
        assert answer["error"]["data"] == {"requiredCapabilities": {"roots": {}}}
        answer = await wire.ask(describe("tools/call", {"name": "roots"}, "able", capabilities={"roots": {}}))
        assert answer["result"]["inputRequests"] == {"question-1": {"method": "roots/list"}}
        await wire.link.send(request("tools/call", {"name": "roots"}, "plain"))
        question = await wire.until(lambda each: each.get("method") == "roots/list")
        await wire.link.send({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}})
        assert (await wire.answer("plain"))["result"]["structuredContent"] == {"result": []}


@pytest.mark.parametrize("kind", ["described", "plain"])
@pytest.mark.parametrize("request_id", ["held", 7])
async def test_requests_of_either_kind_are_cancelled_by_id(wired: Wired, kind: str, request_id: Any) -> None:
    """basic/patterns/cancellation: a cancellation does not show which kind it is for."""
    subject = Subject()
    holding = {"name": "hold", "arguments": {}}
    async with wired(subject.server) as wire:
        if kind == "plain":
            await wire.shake_hands()
        make = describe if kind == "described" else request
        await wire.link.send(make("tools/call", holding, request_id))
        await reached(subject.started)
        await wire.cancel("another")
        await wire.cancel(request_id)
        await reached(subject.cancelled)
        await wire.ask(describe("tools/call", ADD, "after"))
        assert [each for each in wire.messages if each.get("id") == request_id] == []


async def test_an_id_in_use_by_one_kind_is_not_free_for_the_other(wired: Wired) -> None:
    subject = Subject()
    async with wired(subject.server) as wire:
        await wire.shake_hands()
        await wire.link.send(describe("tools/call", {"name": "hold"}, 5))
        await reached(subject.started)
        assert (await wire.ask(call("add", 5, a=1, b=2)))["error"]["code"] == -32600
        subject.release.set()
        await wire.until(lambda each: each.get("id") == 5 and "result" in each)


async def test_each_kind_gets_changes_in_its_own_way(wired: Wired) -> None:
    """basic/patterns/subscriptions: unsolicited to the session, with a subscription id on each stream."""
    subject = Subject()
    async with wired(subject.server) as wire:
        await wire.shake_hands()
        for request_id, notifications in (
            ("a", {"toolsListChanged": True}),
            ("b", {"resourceSubscriptions": [WATCHED]}),
        ):
            await wire.link.send(
                describe("subscriptions/listen", {"notifications": notifications}, request_id)
            )
        await wire.until(lambda each: each.get("params", {}).get("_meta") == {SUBSCRIPTION: "b"})
        subject.server.tools.add(subject.note, name="another")
        subject.server.resource_updated(WATCHED)
        await wire.received("resources/updated")
        came = [
            (each["method"].removeprefix("notifications/"), each.get("params", {}).get("_meta"))
            for each in wire.messages
            if "method" in each
        ]
        assert sorted(came, key=str) == sorted(
            [
                ("subscriptions/acknowledged", {SUBSCRIPTION: "a"}),
                ("subscriptions/acknowledged", {SUBSCRIPTION: "b"}),
                ("tools/list_changed", None),
                ("tools/list_changed", {SUBSCRIPTION: "a"}),
                ("resources/updated", {SUBSCRIPTION: "b"}),
            ],
            key=str,
        )


async def test_a_client_ends_its_stream_by_id(wired: Wired) -> None:
    subject = Subject()
    async with wired(subject.server) as wire:
        message = describe("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, "a")
        await wire.link.send(message)
        await wire.received("subscriptions/acknowledged")
        await wire.cancel("a")
        await wire.ask(describe("tools/call", ADD, "after"))
        await quiescence()
        assert subject.server.notifier.listeners == set()
        subject.server.tools.add(subject.note, name="another")
        await wire.ask(describe("tools/call", ADD, "later"))
        assert len(wire.messages) == 3


@pytest.mark.parametrize("wired", [PipeLink], indirect=True)
async def test_the_end_of_input_ends_streams_with_a_result(wired: Wired) -> None:
    """CAN-12, SUB-08."""
    subject = Subject()
    async with wired(subject.server) as wire:
        for request_id in ("a", 2):
            await wire.link.send(describe("subscriptions/listen", {"notifications": {}}, request_id))
        await wire.until(lambda each: each.get("params", {}).get("_meta") == {SUBSCRIPTION: 2})
    for request_id in ("a", 2):
        ending = [each for each in wire.messages if each.get("params", {}).get("requestId") == request_id]
        assert [each["method"] for each in ending] == ["notifications/cancelled"]
        answer = await wire.answer(request_id)
        assert answer["result"]["_meta"][SUBSCRIPTION] == request_id
        assert wire.messages.index(ending[0]) < wire.messages.index(answer)
    assert subject.server.notifier.listeners == set()


async def test_a_response_without_a_request_is_ignored(wired: Wired) -> None:
    async with wired(Subject().server) as wire:
        await wire.link.send({"jsonrpc": "2.0", "id": 1, "result": {"_meta": {VERSION: REVISION.date}}})
        await wire.ask(describe("tools/call", ADD, "after"))
        assert len(wire.messages) == 1


async def test_a_separate_process_serves_both_kinds() -> None:
    async with stdio_process("-m", "tests.transport.talker") as process:
        result = await process.ask(describe("server/discover", request_id="probe"))
        assert result["result"]["supportedVersions"] == SUPPORTED
        assert (await process.ask(initialize(NEWEST)))["result"]["protocolVersion"] == NEWEST.date
        echo = {"name": "echo", "arguments": {"text": "x"}}
        described = await process.ask(describe("tools/call", echo, 1))
        plain = await process.ask(request("tools/call", echo, 2))
        assert described["result"]["content"] == plain["result"]["content"]
        await process.send(describe("subscriptions/listen", {"notifications": {}}, "s"))
        assert (await process.receive())["params"]["_meta"] == {SUBSCRIPTION: "s"}
        process.end_input()
        cancelled, last = await process.rest()
        assert (cancelled["method"], last["id"]) == ("notifications/cancelled", "s")
        assert await process.exit_code() == 0
