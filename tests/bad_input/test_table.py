"""Send every row of the table over real pipes and sockets; the next valid request must be served."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from assay.revisions.revision import Revision
from tests.bad_input.row import GOOD_HEAD, NEWEST, NOTHING, After, Answer, Head, Row, Setting
from tests.bad_input.table import TABLE
from tests.bad_input.wire import HttpAnswer, Wire
from tests.driving.asgi import BOTH
from tests.driving.messages import call, initialize, notification, request
from tests.driving.process import StdioProcess, http_process, stdio_process

SUBJECT = str(Path(__file__).with_name("subject.py"))
NUMBERS = itertools.count(1)


def test_row_names_are_unique() -> None:
    names = [row.id for row in TABLE]
    assert sorted(set(names)) == sorted(names)
    assert all((row.stdio, row.http, row.websocket) != (None, None, None) for row in TABLE)


class StdioSubjects:
    """One process for each revision, and one without a handshake."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._started: dict[Revision | None, StdioProcess] = {}

    async def get(self, revision: Revision | None) -> StdioProcess:
        if revision not in self._started:
            self._started[revision] = await self._start(revision)
        return self._started[revision]

    async def _start(self, revision: Revision | None) -> StdioProcess:
        process = await self._stack.enter_async_context(stdio_process(SUBJECT, "stdio"))
        if revision is not None:
            assert "result" in await process.ask(initialize(revision))
            await process.send(notification("notifications/initialized"))
        return process

    async def end(self) -> None:
        """Check that every process has no more output, exits with 0, and wrote no errors."""
        for process in self._started.values():
            process.end_input()
            assert await process.rest() == []
            assert await process.exit_code() == 0
            assert process.errors == b""


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def stdio() -> AsyncIterator[StdioSubjects]:
    async with AsyncExitStack() as stack:
        subjects = StdioSubjects(stack)
        yield subjects
        await subjects.end()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("row", [row for row in TABLE if row.stdio is not None], ids=lambda row: row.id)
async def test_over_stdio(row: Row, stdio: StdioSubjects) -> None:
    process = await stdio.get(None if row.setting is Setting.FRESH else row.revision)
    expected = row.stdio or ()
    await process.write(row.sent + b"\n")
    replies = [await process.receive() for _ in expected]
    for reply, expectation in zip(replies, expected, strict=True):
        expectation.check(reply)
    good = request("ping", request_id=f"good {next(NUMBERS)}")
    assert {"jsonrpc": "2.0", "id": good["id"], "result": {}} == await process.ask(good)


class HttpSubject:
    """A process that serves HTTP, and its open sessions."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._sessions: dict[Revision, str] = {}

    async def session(self, revision: Revision) -> str:
        if revision not in self._sessions:
            async with Wire.open(self.url) as wire:
                self._sessions[revision] = await open_session(wire, revision)
        return self._sessions[revision]

    async def state_of(self, row: Row) -> dict[str, str]:
        """The session and version headers of a row."""
        version = {"mcp-protocol-version": row.revision.date}
        if row.setting is not Setting.SESSION:
            return version
        return {"mcp-session-id": await self.session(row.revision), **version}


async def open_session(wire: Wire, revision: Revision) -> str:
    answer = await ask(wire, encode(wire, {}, json.dumps(initialize(revision)).encode()))
    session = answer.headers["mcp-session-id"]
    ready = json.dumps(notification("notifications/initialized")).encode()
    assert (await ask(wire, encode(wire, {"mcp-session-id": session}, ready))).status == 202
    return session


async def ask(wire: Wire, data: bytes) -> HttpAnswer:
    await wire.send(data)
    answer = await wire.answer()
    assert answer is not None, "the connection ended without an answer"
    return answer


def encode(wire: Wire, state: dict[str, str], body: bytes, head: Head = GOOD_HEAD) -> bytes:
    types = {"content-type": "application/json"} if head.method == "POST" else {}
    usual = {"host": wire.authority, "accept": BOTH, **types, **state}
    changed = {*head.without, *(name for name, _ in head.changed)}
    unchanged = [(name, value) for name, value in usual.items() if name not in changed]
    framed, sent = head.framing(body)
    lines = [f"{head.method} {head.path} {head.version}"]
    lines += [f"{name}: {value}" for name, value in (*unchanged, *head.changed, *framed)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + sent


Start = Callable[[str], Awaitable[HttpSubject]]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def start(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Start]:
    subjects: dict[str, HttpSubject] = {}
    errors = tmp_path_factory.mktemp("errors")
    async with AsyncExitStack() as stack:

        async def get(sessions: str) -> HttpSubject:
            if sessions not in subjects:
                url = await stack.enter_async_context(http_process(SUBJECT, sessions, str(errors / sessions)))
                subjects[sessions] = HttpSubject(url)
            return subjects[sessions]

        yield get
    for path in errors.iterdir():
        assert path.read_text() == ""


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("row", [row for row in TABLE if row.http is not None], ids=lambda row: row.id)
async def test_over_http(row: Row, start: Start) -> None:
    assert row.http is not None
    subject = await start("required" if row.setting is Setting.REQUIRED else "optional")
    state = await subject.state_of(row)
    async with Wire.open(subject.url) as wire:
        await wire.send(row.sent if row.raw else encode(wire, state, row.sent, row.head))
        if row.http.status is not None:
            check(row.http, await wire.answer())
        if row.http.after is After.KEPT:
            return await serves(wire, row.setting, state, subject)
        if row.http.after is After.CLOSED and row.http.status is not None:
            assert await wire.is_closed()
    async with Wire.open(subject.url) as wire:
        return await serves(wire, row.setting, state, subject)


def check(expected: Answer, answer: HttpAnswer | None) -> None:
    assert answer is not None, "the connection ended without an answer"
    assert expected.status == answer.status, answer.body
    assert expected.header in answer.headers or not expected.header
    if expected.reply is NOTHING:
        assert answer.body == b""
        return
    assert answer.headers["content-type"] == "application/json"
    expected.reply.check(answer.json)


async def serves(wire: Wire, setting: Setting, state: dict[str, str], subject: HttpSubject) -> None:
    """Check that the next valid request is served on this connection and in this session."""
    if setting is Setting.REQUIRED:
        state = {"mcp-session-id": await subject.session(NEWEST)}
    good: Any = call("add", f"good {next(NUMBERS)}", a=2, b=3)
    answer = await ask(wire, encode(wire, state, json.dumps(good).encode()))
    assert answer.status == 200, answer.body
    assert answer.json["id"] == good["id"]
    assert "5" in answer.json["result"]["content"][0]["text"]
