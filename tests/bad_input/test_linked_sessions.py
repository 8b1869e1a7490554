"""A session and a client, linked by a network that reorders, repeats and loses messages.

Invariants: each arrival of a request is answered at most once, and settles its sender's waiter at most once;
a closed session sends nothing, and nothing waits in it.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from assay import Context, Limits, Server
from assay.model.error import AskError
from assay.protocol.codec import decode
from assay.protocol.correlation import Correlation
from assay.protocol.lifecycle import State
from assay.protocol.scope import Scope
from assay.revisions.registry import HANDSHAKE
from tests.driving.messages import call, initialize, notification, request

TURNS = 30
"""Iterations of the event loop until it is idle: no handler here waits for time, threads or sockets."""
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "m"}


def make_server(release: asyncio.Event) -> Server:
    server = Server("linked", limits=Limits(idle_timeout=None))

    @server.tool
    async def echo(text: str) -> str:
        return text

    @server.tool
    async def hold(ctx: Context) -> str:
        await ctx.log("info", "held")
        await release.wait()
        return "released"

    @server.tool
    async def ask(ctx: Context) -> str:
        return (await ctx.sample("well?", max_tokens=1)).text

    return server


class Waiter:
    """Receives the answer to one request of the client, and fails on a second one."""

    def __init__(self) -> None:
        self.settled: Any = None

    def done(self) -> bool:
        return self.settled is not None

    def set_result(self, result: Any, /) -> None:
        assert self.settled is None
        self.settled = result

    def set_exception(self, exception: BaseException, /) -> None:
        assert self.settled is None
        self.settled = exception


class Linked(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.release = asyncio.Event()
        self.server = make_server(self.release)
        self.to_server: list[Any] = []
        self.to_client: list[bytes] = []
        self.questions: list[str] = []
        self.arrived: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.running: list[asyncio.Task[None]] = []
        self.waiters: dict[str, Waiter] = {}
        self.client = Correlation()
        self.announced = 0
        self.silent_since: int | None = None
        self.loop.run_until_complete(self.open())

    async def open(self) -> None:
        self.session = self.server.open_session(self.to_client.append)
        self.scope = Scope(session=self.session)
        await self.server.handle(initialize(HANDSHAKE[-1], {"sampling": {}}), scope=self.scope)
        await self.server.handle(notification("notifications/initialized"), scope=self.scope)

    def settle(self) -> None:
        for _ in range(TURNS):
            self.loop.call_soon(self.loop.stop)
            self.loop.run_forever()

    async def serve(self, message: Any) -> None:
        reply = await self.server.handle(message, send=self.send, scope=self.scope)
        if reply is not None:
            self.answered[json.loads(reply)["id"]] += 1
            self.to_client.append(reply)

    async def send(self, message: bytes) -> None:
        self.to_client.append(message)

    @property
    def is_open(self) -> bool:
        return self.silent_since is None

    @precondition(lambda self: self.is_open)
    @rule(tool=st.sampled_from(["echo", "hold", "ask", "none"]), at_once=st.booleans())
    def call(self, tool: str, at_once: bool) -> None:
        waiter = Waiter()
        request_id = self.client.ask(waiter)
        self.waiters[request_id] = waiter
        arguments = {"text": "hi"} if tool == "echo" else {}
        self.to_server.append(call(tool, request_id, **arguments))
        if at_once:
            self.arrive(self.to_server.pop())

    @precondition(lambda self: self.waiters)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        request_id = data.draw(st.sampled_from(sorted(self.waiters)))
        self.to_server.append(notification("notifications/cancelled", {"requestId": request_id}))

    @precondition(lambda self: self.questions)
    @rule(data=st.data(), answer=st.sampled_from(["result", "invalid", "error"]))
    def answer(self, data: st.DataObject, answer: str) -> None:
        request_id = data.draw(st.sampled_from(self.questions))
        bodies = {"result": {"result": SAMPLED}, "invalid": {"result": [7]}}
        body = bodies.get(answer, {"error": {"code": -1, "message": "no"}})
        self.to_server.append({"jsonrpc": "2.0", "id": request_id, **body})

    @precondition(lambda self: self.to_server)
    @rule(data=st.data(), repeated=st.booleans())
    def arrive_at_server(self, data: st.DataObject, repeated: bool) -> None:
        place = data.draw(st.integers(0, len(self.to_server) - 1))
        message = self.to_server[place] if repeated else self.to_server.pop(place)
        if self.is_open:  # otherwise the transport was closed with the session
            self.arrive(message)

    def arrive(self, message: Any) -> None:
        if "method" in message and "id" in message:
            self.arrived[message["id"]] += 1
        self.running.append(self.loop.create_task(self.serve(message)))
        self.settle()

    @precondition(lambda self: self.to_client)
    @rule(data=st.data(), repeated=st.booleans())
    def arrive_at_client(self, data: st.DataObject, repeated: bool) -> None:
        place = data.draw(st.integers(0, len(self.to_client) - 1))
        raw = self.to_client[place] if repeated else self.lose_from_server(place)
        message = json.loads(raw)
        if "method" in message:
            if "id" in message and message["id"] not in self.questions:
                self.questions.append(message["id"])
        elif message["id"] in self.waiters:
            envelope = decode(raw, self.server.limits)
            assert not isinstance(envelope, list)
            assert self.client.settle(envelope)
            assert self.waiters[message["id"]].done()

    def lose_from_server(self, place: int) -> bytes:
        if self.silent_since is not None:
            self.silent_since -= 1
        return self.to_client.pop(place)

    @precondition(lambda self: self.to_server)
    @rule(data=st.data())
    def lose(self, data: st.DataObject) -> None:
        self.to_server.pop(data.draw(st.integers(0, len(self.to_server) - 1)))

    @precondition(lambda self: self.to_client)
    @rule(data=st.data())
    def lose_reply(self, data: st.DataObject) -> None:
        self.lose_from_server(data.draw(st.integers(0, len(self.to_client) - 1)))

    @rule()
    def release_held(self) -> None:
        """Let held calls finish; later ones are held again."""
        self.release.set()
        self.settle()
        self.release.clear()

    @precondition(lambda self: self.is_open)
    @rule()
    def announce(self) -> None:
        """Make the server send a notification."""
        self.announced += 1
        self.server.tool(name=f"tool{self.announced}")(make_tool())
        self.settle()

    @rule()
    def close(self) -> None:
        """May run twice: closing is idempotent."""
        self.server.close_session(self.session)
        if self.silent_since is None:
            self.silent_since = len(self.to_client)
        self.client.close()
        self.settle()

    @precondition(lambda self: not self.is_open)
    @rule()
    def ask_a_closed_session(self) -> None:
        """The caller gets an error, and no handler runs."""
        reply = self.loop.run_until_complete(
            self.server.handle(request("ping"), send=self.send, scope=self.scope)
        )
        assert reply is not None
        assert json.loads(reply)["error"]["message"] == "the session is closed"

    @invariant()
    def a_request_is_answered_at_most_once(self) -> None:
        assert self.answered <= self.arrived

    @invariant()
    def nothing_is_sent_after_close(self) -> None:
        assert self.silent_since in (None, len(self.to_client))

    @invariant()
    def nothing_is_pending_after_close(self) -> None:
        if not self.is_open:
            assert self.session.state is State.CLOSED
            assert (len(self.session.in_flight), len(self.session.outgoing_requests), len(self.client)) == (
                0,
                0,
                0,
            )
            assert all(waiter.done() for waiter in self.waiters.values())
            assert all(task.done() for task in self.running)

    @invariant()
    def pending_questions_belong_to_running_requests(self) -> None:
        running = sum(not task.done() for task in self.running)
        assert len(self.session.outgoing_requests) <= len(self.session.in_flight) <= running

    def teardown(self) -> None:
        try:
            self.close()
            self.nothing_is_sent_after_close()
            self.nothing_is_pending_after_close()
            for task in self.running:
                task.result()
            assert not asyncio.all_tasks(self.loop)
        finally:
            self.loop.close()


def make_tool() -> Any:
    async def tool() -> str:
        raise AssertionError("not reached")

    return tool


def test_closed_correlation_asks_nothing() -> None:
    client = Correlation()
    client.close()
    try:
        client.ask(Waiter())
    except AskError:
        return
    raise AssertionError("not reached")


TestLinkedSessions = Linked.TestCase
# Without the explain phase, which traces every line and would exceed the timeout.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
TestLinkedSessions.settings = settings(max_examples=100, stateful_step_count=30, deadline=None, phases=PHASES)
