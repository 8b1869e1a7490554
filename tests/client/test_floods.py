"""Servers that send many messages: what waits in the client is bounded in number and in bytes."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from assay import Change, Client, ClientLimits, ElicitationRequest, InvalidAnswer, LogMessage, Progress
from assay.client.answer import Handlers
from assay.client.callback import WAITING_BYTES, CallbackQueue
from assay.client.change_hub import ChangeHub
from assay.client.incoming import PROGRESS_CHARACTERS, URI_CHARACTERS, Incoming
from assay.client.log import MOST_WARNINGS, WARNING_CHARACTERS, ServerWarnings
from assay.client.settings import Notices
from assay.model.jsonrpc import Outcome
from assay.protocol.codec import decode_message
from tests.client.scripted import HttpRequest, Writer, answering, http_response, raw_http, result

NONE, SILENT = Handlers(), Notices()


class World:
    """An `Incoming` whose replies the server does not read, until `readable` is set."""

    def __init__(self, handlers: Handlers = NONE, notices: Notices = SILENT, **limits: int) -> None:
        self.sent: list[Outcome] = []
        self.waiting = 0
        self.readable = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()
        self.queue = CallbackQueue(1000)
        self.incoming = Incoming(
            handlers, notices, self.queue, self, self.reply, ClientLimits(**limits), ChangeHub()
        )

    def spawn(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        return task

    def fail(self, request_id: str, error: Exception) -> None:
        raise AssertionError

    async def reply(self, outcome: Outcome) -> None:
        self.waiting += 1
        await self.readable.wait()
        self.sent.append(outcome)

    def ask(self, request_id: int | str, method: str, **params: Any) -> None:
        self.incoming.ask(decode_message(self._body(method, params, id=request_id)))

    def notify(self, method: str, **params: Any) -> None:
        self.incoming.notify(decode_message(self._body(f"notifications/{method}", params)))

    def _body(self, method: str, params: Any, **further: Any) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **further}).encode()

    async def turns(self) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(5):
            turn = loop.create_future()
            loop.call_soon(turn.set_result, None)
            await turn

    async def finish(self) -> None:
        self.readable.set()
        await asyncio.gather(*self.tasks)


@pytest.mark.parametrize("method", ["roots/list", "com.example/unknown", "elicitation/create"])
async def test_replies_that_the_server_does_not_read_are_bounded(method: str) -> None:
    world = World(Handlers(roots=["/data"]), questions=4)
    for number in range(100):
        world.ask(number, method)
        await world.turns()
    assert world.waiting <= 2 * 4  # answers, and refusals
    await world.finish()
    world.ask("next", "roots/list")
    await world.finish()
    assert world.sent[-1].id == "next"


async def test_the_bytes_of_questions_that_wait_for_the_user_are_bounded() -> None:
    async def wait(request: ElicitationRequest) -> None:
        await asyncio.get_running_loop().create_future()

    world = World(Handlers(elicitation=wait), message_bytes=10_000)
    for number in range(10):
        world.ask(number, "elicitation/create", message="x" * 4000)
    world.readable.set()
    await world.turns()
    assert len(world.sent) == 8  # refused
    for task in world.tasks:
        task.cancel()
    await asyncio.wait(world.tasks)
    world.sent.clear()
    world.ask("next", "roots/list")
    await world.turns()
    assert len(world.sent) == 1


async def test_a_result_with_too_many_questions_is_refused_before_the_first_is_asked() -> None:
    questions = {
        str(number): {"method": "elicitation/create", "params": {"message": "?"}} for number in range(65)
    }

    async def respond(request: HttpRequest, writer: Writer) -> None:
        asking = {"resultType": "input_required", "inputRequests": questions}
        writer.write(http_response("200 OK", result(request, asking)))

    messages: list[ElicitationRequest] = []
    async with (
        raw_http(answering(respond)) as server,
        Client(server.url, elicitation=messages.append) as client,
    ):
        with pytest.raises(InvalidAnswer, match="asks 65 questions: limit 64"):
            await client.call("anything")
    assert messages == []


async def test_the_bytes_of_log_messages_that_wait_for_a_callback_are_bounded() -> None:
    release, received = asyncio.Event(), []

    async def slow(message: LogMessage) -> None:
        await release.wait()
        received.append(message)

    world = World(notices=Notices(on_log=slow))
    for _ in range(10):
        world.notify("message", level="error", data="x" * (WAITING_BYTES // 4))
    release.set()
    await world.queue.flush()
    assert len(received) == 1 + 3
    for _ in range(3):
        world.notify("message", level="error", data="y")
    await world.queue.flush()
    assert len(received) == 7


async def test_the_text_of_a_progress_report_is_cut() -> None:
    reports: list[Progress] = []
    world = World()
    world.incoming.progress["token"] = reports.append
    world.notify("progress", progressToken="token", progress=1, message="x" * 100_000)
    world.notify("progress", progressToken="token", progress=2)
    assert [len(report.message or "") for report in reports] == [PROGRESS_CHARACTERS, 0]


async def test_a_change_of_a_uri_of_any_length_is_not_passed_on() -> None:
    changes: list[Change] = []
    world = World(notices=Notices(on_change=changes.append))
    for uri in ("data:" + "x" * URI_CHARACTERS, "data:x"):
        world.notify("resources/updated", uri=uri)
    assert changes == [Change("resource", "data:x")]


def test_warnings_about_a_server_are_few_and_short(caplog: pytest.LogCaptureFixture) -> None:
    warnings = ServerWarnings()
    with caplog.at_level(logging.WARNING, "assay.client"):
        for _ in range(100):
            warnings.add("the server sent %s", "\x1b" + "x" * 100_000)
    assert len(caplog.messages) == MOST_WARNINGS
    assert max(map(len, caplog.messages)) < WARNING_CHARACTERS + 100
    assert caplog.messages[-1].endswith("are left out)")
    assert "\x1b" not in caplog.text
