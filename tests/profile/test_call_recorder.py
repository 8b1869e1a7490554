"""Calls in the ledger: every action is recorded, however the call ended."""

from __future__ import annotations

import asyncio
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from assay import Context, RpcError, Server
from assay.profile import Profile
from assay.profile.ledger import Ledger
from assay.profile.port import Record
from assay.signing import canonical
from tests.driving.describing import DescribingClient, accepted, answering
from tests.profile.market import DATES, EFFECTS, PER_REQUEST, Book, answer, market, result, summary
from tests.server.scripted import ScriptedClient, finished

EVERY = pytest.mark.parametrize("date", DATES)


def of(value: Any) -> str:
    return f"sha256:{sha256(canonical.encode(value)).hexdigest()}"


@pytest.fixture
def book() -> Book:
    return Book()


@pytest.fixture
def server(book: Book) -> Server:
    return market(Profile(ledger=book))


def only(book: Book) -> Record:
    (record,) = book.records
    return record


@EVERY
async def test_a_call_is_written_down_and_its_summary_names_the_entry(
    server: Server, book: Book, date: str
) -> None:
    effects = await summary(server, "write", date=date, text="ü")
    assert effects["ledger"] == {"seq": 1, "entryHash": f"sha256:{1:064}"}
    hashed = of(effects["effects"])
    assert only(book) == Record("tool_invocation", "write", effects["argsDigest"], hashed, "short-30d")


async def test_who_asked_and_in_which_session_is_handed_over(book: Book, server: Server) -> None:
    async with ScriptedClient(server, principal=("ann", 7)) as client:
        client.session.id = "s-1"
        await client.call("echo", message="x")
    assert (only(book).session, only(book).principal) == ("s-1", "('ann', 7)")


async def test_a_failed_call_is_written_down(server: Server, book: Book) -> None:
    called = await result(server, DATES[-2], "tools/call", name="break_off")
    assert called["_meta"][EFFECTS]["ledger"]["seq"] == 1
    assert only(book).effects_hash == of(called["_meta"][EFFECTS]["effects"])


async def test_a_call_that_ends_in_an_error_after_effects_is_written_down(server: Server, book: Book) -> None:
    @server.tool
    async def refuse(ctx: Context) -> None:
        ctx.effect("send", "https://example.org", kind="http")
        raise RpcError(-31000, "no")

    assert (await answer(server, DATES[-2], "tools/call", name="refuse"))["error"]["code"] == -31000
    assert (only(book).event, only(book).target) == ("tool_failure", "refuse")
    effect = {"op": "send", "target": {"kind": "http", "id": "https://example.org"}}
    assert only(book).effects_hash == of([effect])


@pytest.mark.parametrize("params", [{"name": "no-such"}, {}, {"name": "echo", "arguments": {"x": 1}}])
async def test_a_call_that_was_refused_before_it_began_is_not(
    server: Server, book: Book, params: dict[str, Any]
) -> None:
    assert "error" in await answer(server, DATES[0], "tools/call", **params)
    assert book.records == []


async def test_a_cancelled_call_is_written_down_with_what_it_did(server: Server, book: Book) -> None:
    begun = asyncio.Event()

    @server.tool
    async def linger(ctx: Context) -> None:
        ctx.effect("create", "half")
        begun.set()
        await asyncio.Event().wait()

    async with ScriptedClient(server) as client:
        running = client.start_call("linger")
        await begun.wait()
        await client.cancel(2)
        assert await finished(running) is None
    assert (only(book).event, only(book).target) == ("tool_cancellation", "linger")
    assert only(book).effects_hash == of([{"op": "create", "target": {"kind": "file", "id": "half"}}])


@pytest.mark.parametrize("ending", [asyncio.CancelledError, KeyboardInterrupt, GeneratorExit])
async def test_a_call_that_lets_any_exception_out_has_failed(
    server: Server, book: Book, ending: type[BaseException]
) -> None:
    @server.tool
    async def leave() -> None:
        raise ending

    reply = await answer(server, DATES[-2], "tools/call", name="leave")
    assert (reply["error"]["code"], only(book).event) == (-32603, "tool_failure")


async def test_a_call_whose_task_is_cancelled_is_written_down(server: Server, book: Book) -> None:
    begun = asyncio.Event()

    @server.tool
    async def linger() -> None:
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(answer(server, DATES[-2], "tools/call", name="linger"))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert only(book).event == "tool_cancellation"


async def test_each_round_of_questions_is_written_down(server: Server, book: Book) -> None:
    @server.tool
    async def ask(ctx: Context) -> str:
        await ctx.once("done", lambda: ctx.effect("create", "draft"))
        return str(await ctx.elicit("Who?", {"type": "object", "properties": {"name": {"type": "string"}}}))

    client = DescribingClient(server)
    question = await client.call("ask")
    called = await client.call("ask", answering(question, question_1=accepted(name="Ada")))
    assert [record.event for record in book.records] == ["tool_question", "tool_invocation"]
    first, last = book.records
    assert first.effects_hash == last.effects_hash == of(called["_meta"][EFFECTS]["effects"]) != of([])


@EVERY
async def test_nothing_is_done_that_could_not_be_written_down(server: Server, book: Book, date: str) -> None:
    done: list[int] = []
    server.tool(name="act")(lambda: done.append(1))
    book.full = True
    failed = await answer(server, date, "tools/call", name="act")
    assert (failed["error"]["code"], done) == (-32603, [])


async def test_a_call_that_could_not_be_written_down_after_all_has_no_result(
    server: Server, book: Book
) -> None:
    book.torn = True
    failed = await answer(server, DATES[-2], "tools/call", name="write", arguments={"text": "x"})
    assert failed["error"]["code"] == -32603


async def test_questions_are_asked_even_if_the_round_could_not_be_written_down(
    server: Server, book: Book, caplog: pytest.LogCaptureFixture
) -> None:
    @server.tool
    async def ask(ctx: Context) -> str:
        return str(await ctx.elicit("Who?", {"type": "object", "properties": {}}))

    book.torn = True
    assert (await DescribingClient(server).call("ask"))["resultType"] == "input_required"
    assert "a call of ask could not be recorded: torn" in caplog.text


async def test_arguments_that_canonical_json_cannot_say_are_known_by_their_bytes(book: Book) -> None:
    server = market(Profile(ledger=book))
    arguments = b'{"message":1e999}'
    params = b'{"name":"echo","arguments":' + arguments + b"}"
    message = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + params + b"}"
    called = json.loads(await server.handle(message) or b"")["result"]
    assert "argsDigest" not in called["_meta"][EFFECTS]
    assert only(book).payload_hash == f"sha256:{sha256(arguments).hexdigest()}"


async def test_reads_are_written_down_only_if_wanted() -> None:
    quiet, full = Book(), Book()
    for book, logged in ((quiet, False), (full, True)):
        server = market(Profile(ledger=book, log_reads=logged))
        await result(server, PER_REQUEST, "resources/read", uri="file:///notes.txt")
    assert quiet.records == []
    assert only(full) == Record("resource_read", "file:///notes.txt", of({}), of([]), "legal-hold")


async def test_a_ledger_on_disk_takes_it_all(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    server = market(Profile(ledger=ledger))
    effects = [await summary(server, "echo", message=str(number)) for number in range(3)]
    ledger.close()
    entries = [json.loads(line) for line in ledger.path.read_bytes().splitlines()]
    by_number = {entry["seq"]: entry["entryHash"] for entry in entries}
    assert [by_number[each["ledger"]["seq"]] for each in effects] == [
        each["ledger"]["entryHash"] for each in effects
    ]
