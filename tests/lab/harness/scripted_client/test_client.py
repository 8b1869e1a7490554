"""The scripted client and broken streams, lost sessions, requests of the server, caches and timeouts."""

import asyncio
from typing import Any

import msgspec
import pytest

from assay.lab.harness.scripted_server.answer import DONE, SILENCE, Answer, AnswerError
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, call_tool, optional, step
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, input_required
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import Transport
from assay.model.error import METHOD_NOT_FOUND, UNSUPPORTED_VERSION
from assay.protocol.framing import sse
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision
from tests.lab.harness.scripted_client.script_run import SHAKING, STATELESS, run_script

EVERYWHERE = (Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET)
CHANGED = "notifications/tools/list_changed"


@pytest.mark.parametrize("transport", EVERYWHERE)
@pytest.mark.parametrize("revision", REVISIONS, ids=str)
async def test_steps_are_taken_on_every_transport_at_every_revision(
    transport: Transport, revision: Revision
) -> None:
    run = await run_script(
        LIST_TOOLS, call_tool("work"), prepare=with_tool, revision=revision, transport=transport
    )
    assert run.exit.status == 0, run.stderr
    assert run.methods[1:] == ["tools/list", "tools/call"]


def with_tool(stage: ClientStage, run: Any = None, **definition: Any) -> None:
    stage.server.add_tool({"name": "work", **definition}, run)


# -- streams and sessions ----------------------------------------------------------------------------------


async def test_broken_stream_is_resumed_after_its_last_event_and_the_retry_interval() -> None:
    def prepare(stage: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            await cycle.channel.raw(sse.priming("event-1", 5))
            stage.server.memory["cycle"] = cycle
            await cycle.channel.finish()
            return DONE

        @stage.server.on_http
        async def resume(request: InboundRequest, reply: HttpReply) -> bool:
            if request.header("last-event-id") != "event-1":
                return False
            number = stage.server.memory["cycle"].id
            await reply.stream()
            await reply.block(sse.event(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}' % number))
            await reply.end()
            return True

        with_tool(stage, work)

    run = await run_script(call_tool("work"), prepare=prepare)
    assert run.exit.status == 0, run.stderr
    assert [exchange.resumes for exchange in run.trace.calls if exchange.resumes] == ["event-1"]


async def test_request_is_reissued_with_a_new_id_where_streams_do_not_resume() -> None:
    def prepare(stage: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            if stage.server.memory.setdefault("first", cycle.id) != cycle.id:
                return {"content": []}
            await cycle.notify("notifications/message", {"level": "info", "data": "cut"})
            cycle.channel.cut()
            return DONE

        with_tool(stage, work)

    run = await run_script(call_tool("work"), prepare=prepare, revision=STATELESS)
    calls = list(run.trace.subject_exchanges("tools/call"))
    assert run.exit.status == 0, run.stderr
    assert len({inquiry.request.id for inquiry in calls}) == len(calls) == 2


async def test_lost_session_is_replaced_and_the_last_one_is_deleted() -> None:
    def prepare(stage: ClientStage) -> None:
        stage.server.sessions = True

        @stage.server.on("tools/list")
        async def lists(cycle: RequestCycle) -> Answer:
            stage.server.session = "another"
            return {"tools": []}

    run = await run_script(LIST_TOOLS, step("ping"), prepare=prepare)
    assert run.exit.status == 0, run.stderr
    assert run.methods == ["initialize", "tools/list", "ping", "initialize", "ping"]
    assert run.trace.calls[-1].sent.method == "DELETE"


async def test_get_stream_delivers_notifications() -> None:
    def prepare(stage: ClientStage) -> None:
        stage.server.standalone = True

        async def work(cycle: RequestCycle) -> Answer:
            await stage.server.announce(CHANGED)
            return {"content": []}

        with_tool(stage, work)

    run = await run_script(call_tool("work"), step("relist_on_change", seconds=5), prepare=prepare)
    assert run.exit.status == 0, run.stderr
    assert run.methods[-1] == "tools/list"


async def test_client_falls_back_to_http_sse() -> None:
    def prepare(stage: ClientStage) -> None:
        stream: list[HttpReply] = []

        @stage.server.on_http
        async def two_endpoints(request: InboundRequest, reply: HttpReply) -> bool:
            if request.path == "/messages":
                await reply.respond(202)
                if b'"id"' in request.body:
                    await stage.server.receive(
                        RequestCycle(stage.server, msgspec.json.decode(request.body), _Stream(stream[0]))
                    )
            elif request.method == "GET":
                stream.append(reply)
                await reply.stream()
                await reply.block(b"event: endpoint\ndata: /messages\n\n")
                await reply.disconnected.wait()
            else:
                await reply.respond(405)
            return True

    run = await run_script(LIST_TOOLS, prepare=prepare)
    assert run.exit.status == 0, run.stderr
    posts = [exchange.sent.target for exchange in run.trace.calls if exchange.sent.method == "POST"]
    assert posts[1:] == ["/messages"] * 3


class _Stream:
    """The event stream that carries every answer."""

    connection = "1"

    def __init__(self, reply: HttpReply) -> None:
        self._reply = reply
        self.disconnected = reply.disconnected

    async def send(self, body: bytes) -> None:
        await self._reply.block(sse.event(body))

    async def raw(self, data: bytes) -> None:
        await self._reply.block(data)

    async def reply(self, body: bytes, status: int | None = None) -> None:
        await self.send(body)

    async def finish(self) -> None: ...

    def cut(self) -> None: ...


async def test_process_that_died_is_restarted_with_its_subscriptions() -> None:
    def prepare(stage: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            if "died" in stage.server.memory:
                return {"content": []}
            stage.server.memory["died"] = True
            cycle.channel.cut()
            return DONE

        with_tool(stage, work)

    listen = step("listen", notifications={"toolsListChanged": True})
    run = await run_script(
        listen, call_tool("work"), prepare=prepare, revision=STATELESS, transport=Transport.STDIO
    )
    assert run.exit.status == 0, run.stderr
    assert run.methods.count("subscriptions/listen") == 2


# -- versions ----------------------------------------------------------------------------------------------


async def test_unknown_version_ends_the_client() -> None:
    def prepare(stage: ClientStage) -> None:
        @stage.server.on("initialize")
        async def odd(cycle: RequestCycle) -> Answer:
            info = {"name": "odd", "version": "1"}
            return {"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": info}

    run = await run_script(LIST_TOOLS, prepare=prepare)
    assert run.exit.status == 1
    assert run.methods == ["initialize"]


async def test_server_without_the_probe_gets_a_handshake() -> None:
    def prepare(stage: ClientStage) -> None:
        @stage.server.on("server/discover")
        async def unknown(cycle: RequestCycle) -> Answer:
            raise AnswerError(METHOD_NOT_FOUND, "no such method")

        @stage.server.on("initialize")
        async def known(cycle: RequestCycle) -> Answer:
            info = {"name": "old", "version": "1"}
            return {"protocolVersion": SHAKING.date, "capabilities": {}, "serverInfo": info}

    run = await run_script(LIST_TOOLS, prepare=prepare, revision=STATELESS, transport=Transport.STDIO)
    assert run.methods == ["server/discover", "initialize", "tools/list"]


async def test_refused_version_is_retried_with_one_that_the_server_supports() -> None:
    def prepare(stage: ClientStage) -> None:
        @stage.server.on("tools/list")
        async def first_no(cycle: RequestCycle) -> Answer:
            if stage.server.memory.setdefault("first", cycle.id) == cycle.id:
                raise AnswerError(UNSUPPORTED_VERSION, "not this one", {"supported": [STATELESS.date]})
            return {"tools": []}

    run = await run_script(LIST_TOOLS, prepare=prepare, revision=STATELESS)
    assert run.exit.status == 0, run.stderr
    assert run.methods == ["server/discover", "tools/list", "tools/list"]


# -- time and order ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("revision", "transport", "notifies"),
    [(SHAKING, Transport.HTTP, True), (STATELESS, Transport.HTTP, False), (STATELESS, Transport.STDIO, True)],
)
async def test_timeout_cancels_in_the_way_of_the_revision(
    revision: Revision, transport: Transport, notifies: bool
) -> None:
    left = asyncio.Event()

    def prepare(stage: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            asyncio.get_running_loop().create_task(watch(cycle))
            return SILENCE

        with_tool(stage, work)

    async def watch(cycle: RequestCycle) -> None:
        await cycle.wait_for_disconnect()
        left.set()

    slow = {**call_tool("work"), "timeout": 0.05}
    run = await run_script(slow, LIST_TOOLS, prepare=prepare, revision=revision, transport=transport)
    assert run.exit.status == 0, run.stderr
    methods = [message.method for message in run.trace.received]
    assert ("notifications/cancelled" in methods) is notifies
    async with asyncio.timeout(5):
        await left.wait()


async def test_steps_run_together_overlap() -> None:
    both = asyncio.Barrier(2)

    def prepare(stage: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            async with asyncio.timeout(5):
                await both.wait()
            return {"content": []}

        with_tool(stage, work)

    run = await run_script(step("together", steps=[call_tool("work"), call_tool("work")]), prepare=prepare)
    assert run.exit.status == 0, run.stderr


async def test_step_that_may_fail_does_not_end_the_client() -> None:
    run = await run_script(optional(call_tool("missing")), LIST_TOOLS)
    assert run.exit.status == 0
    assert "call_tool failed, which is allowed" in run.stderr


async def test_answer_with_another_id_is_ignored() -> None:
    def prepare(stage: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            await cycle.channel.reply(b'{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}')
            return DONE

        with_tool(stage, work)

    run = await run_script(call_tool("work"), prepare=prepare)
    assert run.exit.status == 1
    assert "ended without an answer" in run.stderr


# -- requests of the server --------------------------------------------------------------------------------


async def test_input_requests_are_answered_with_their_state() -> None:
    state = '{"odd": "\\u00e4 state"}'

    def prepare(stage: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            answers = await cycle.inquire({"first": ("roots/list", {}), "second": ("ping", {})}, state)
            stage.server.memory["answers"] = answers
            return {"content": []}

        with_tool(stage, work)

    root = {"uri": "file:///home", "name": "home"}
    run = await run_script(
        call_tool("work"),
        prepare=prepare,
        revision=STATELESS,
        capabilities=("roots",),
        answers={"roots": [root]},
    )
    assert run.exit.status == 0, run.stderr
    first, second = run.trace.subject_exchanges("tools/call")
    assert second.request.id != first.request.id
    assert second.params["requestState"] == state
    assert second.params["inputResponses"] == {"first": {"roots": [root]}, "second": {}}


async def test_unknown_result_type_is_invalid() -> None:
    def prepare(stage: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            return {**input_required({}), "resultType": "of_another_kind"}

        with_tool(stage, work)

    run = await run_script(call_tool("work"), prepare=prepare, revision=STATELESS)
    assert run.exit.status == 1
    assert "of_another_kind" in run.stderr


async def test_requests_without_a_declared_capability_are_refused() -> None:
    def prepare(stage: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            for method in ("sampling/createMessage", "odd/method", "ping"):
                stage.server.memory[method] = await cycle.ask(method, {})
            return {"content": []}

        with_tool(stage, work)

    run = await run_script(call_tool("work"), prepare=prepare)
    assert run.exit.status == 0, run.stderr
    codes = [exchange.code for exchange in run.trace.exchanges() if exchange.method != "ping"]
    assert codes == [METHOD_NOT_FOUND, METHOD_NOT_FOUND]
    assert [exchange.result for exchange in run.trace.exchanges("ping")] == [{}]


# -- lists and caches --------------------------------------------------------------------------------------


async def test_cached_list_is_not_requested_again_until_it_changes() -> None:
    def prepare(stage: ClientStage) -> None:
        stage.server.hints = {"ttlMs": 600_000, "cacheScope": "private"}

        async def work(cycle: RequestCycle) -> Answer:
            await stage.server.announce(CHANGED)
            return {"content": []}

        with_tool(stage, work)

    listen = step("listen", notifications={"toolsListChanged": True})
    change = (call_tool("work"), step("wait_for", notification=CHANGED, seconds=5))
    run = await run_script(
        listen, LIST_TOOLS, LIST_TOOLS, *change, LIST_TOOLS, prepare=prepare, revision=STATELESS
    )
    assert run.exit.status == 0, run.stderr
    assert run.methods.count("tools/list") == 2


async def test_pages_are_followed_and_an_empty_cursor_is_valid() -> None:
    def prepare(stage: ClientStage) -> None:
        @stage.server.on("resources/list")
        async def pages(cycle: RequestCycle) -> Answer:
            following = {None: "", "": "last"}.get(cycle.params.get("cursor"))
            return {"resources": []} | ({} if following is None else {"nextCursor": following})

    run = await run_script(step("list_resources"), prepare=prepare)
    cursors = [inquiry.params.get("cursor") for inquiry in run.trace.subject_exchanges("resources/list")]
    assert cursors == [None, "", "last"]


async def test_repeated_cursor_ends_the_list() -> None:
    def prepare(stage: ClientStage) -> None:
        @stage.server.on("resources/list")
        async def same(cycle: RequestCycle) -> Answer:
            return {"resources": [], "nextCursor": "again"}

    run = await run_script(step("list_resources"), prepare=prepare)
    assert run.exit.status == 1
    assert run.methods.count("resources/list") == 2


async def test_output_that_does_not_match_its_schema_is_an_error() -> None:
    schema = {"type": "object", "required": ["sum"]}

    def prepare(stage: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            return {"content": [], "structuredContent": {"total": 8}}

        with_tool(stage, work, outputSchema=schema)

    run = await run_script(LIST_TOOLS, call_tool("work"), prepare=prepare)
    assert run.exit.status == 1
    assert "does not match its schema" in run.stderr
