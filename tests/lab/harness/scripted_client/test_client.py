"""What the guest does about broken streams, lost sessions, questions, changes and time."""

import asyncio
from typing import Any

import msgspec
import pytest

from assay.lab.harness.scripted_server.answer import DONE, SILENCE, Answer, Refused
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, call, step, tried
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, input_required
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import Transport
from assay.model.error import METHOD_NOT_FOUND, UNSUPPORTED_VERSION
from assay.protocol.framing import sse
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision
from tests.lab.harness.scripted_client.party import SHAKING, STATELESS, visit

EVERYWHERE = (Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET)
CHANGED = "notifications/tools/list_changed"


@pytest.mark.parametrize("transport", EVERYWHERE)
@pytest.mark.parametrize("revision", REVISIONS, ids=str)
async def test_steps_are_taken_on_every_transport_at_every_revision(
    transport: Transport, revision: Revision
) -> None:
    visited = await visit(LIST_TOOLS, call("work"), prepare=with_tool, revision=revision, transport=transport)
    assert visited.ended.status == 0, visited.said
    assert visited.asked[1:] == ["tools/list", "tools/call"]


def with_tool(hosting: ClientStage, run: Any = None, **definition: Any) -> None:
    hosting.host.add_tool({"name": "work", **definition}, run)


# -- streams and sessions ----------------------------------------------------------------------------------


async def test_broken_stream_is_resumed_after_its_last_event_and_the_wait_it_was_told() -> None:
    def prepare(hosting: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            await cycle.channel.raw(sse.priming("event-1", 5))
            hosting.host.memory["turn"] = cycle
            await cycle.channel.finish()
            return DONE

        @hosting.host.on_http
        async def resume(asked: Asked, reply: HttpReply) -> bool:
            if asked.header("last-event-id") != "event-1":
                return False
            number = hosting.host.memory["turn"].id
            await reply.stream()
            await reply.block(sse.event(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}' % number))
            await reply.end()
            return True

        with_tool(hosting, work)

    visited = await visit(call("work"), prepare=prepare)
    assert visited.ended.status == 0, visited.said
    assert [one.resumes for one in visited.trace.calls if one.resumes] == ["event-1"]


async def test_broken_answer_is_asked_for_anew_under_a_new_id_where_streams_do_not_resume() -> None:
    def prepare(hosting: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            if hosting.host.memory.setdefault("first", cycle.id) != cycle.id:
                return {"content": []}
            await cycle.notify("notifications/message", {"level": "info", "data": "cut"})
            cycle.channel.cut()
            return DONE

        with_tool(hosting, work)

    visited = await visit(call("work"), prepare=prepare, revision=STATELESS)
    calls = list(visited.trace.inquiries("tools/call"))
    assert visited.ended.status == 0, visited.said
    assert len({one.request.id for one in calls}) == len(calls) == 2


async def test_lost_session_is_begun_again_and_the_last_one_is_ended() -> None:
    def prepare(hosting: ClientStage) -> None:
        hosting.host.sessions = True

        @hosting.host.on("tools/list")
        async def lists(cycle: RequestCycle) -> Answer:
            hosting.host.session = "another"
            return {"tools": []}

    visited = await visit(LIST_TOOLS, step("ping"), prepare=prepare)
    assert visited.ended.status == 0, visited.said
    assert visited.asked == ["initialize", "tools/list", "ping", "initialize", "ping"]
    assert visited.trace.calls[-1].sent.method == "DELETE"


async def test_get_stream_brings_what_belongs_to_no_request() -> None:
    def prepare(hosting: ClientStage) -> None:
        hosting.host.standalone = True

        async def work(cycle: RequestCycle) -> Answer:
            await hosting.host.announce(CHANGED)
            return {"content": []}

        with_tool(hosting, work)

    visited = await visit(call("work"), step("relist_on_change", seconds=5), prepare=prepare)
    assert visited.ended.status == 0, visited.said
    assert visited.asked[-1] == "tools/list"


async def test_server_that_knows_only_two_endpoints_is_reached() -> None:
    def prepare(hosting: ClientStage) -> None:
        stream: list[HttpReply] = []

        @hosting.host.on_http
        async def two_endpoints(asked: Asked, reply: HttpReply) -> bool:
            if asked.path == "/messages":
                await reply.whole(202)
                if b'"id"' in asked.body:
                    await hosting.host.receive(
                        RequestCycle(hosting.host, msgspec.json.decode(asked.body), _Stream(stream[0]))
                    )
            elif asked.method == "GET":
                stream.append(reply)
                await reply.stream()
                await reply.block(b"event: endpoint\ndata: /messages\n\n")
                await reply.left.wait()
            else:
                await reply.whole(405)
            return True

    visited = await visit(LIST_TOOLS, prepare=prepare)
    assert visited.ended.status == 0, visited.said
    assert [one.sent.target for one in visited.trace.calls if one.sent.method == "POST"][1:] == [
        "/messages"
    ] * 3


class _Stream:
    """The stream that carries every answer."""

    connection = "1"

    def __init__(self, reply: HttpReply) -> None:
        self._reply = reply
        self.left = reply.left

    async def send(self, body: bytes) -> None:
        await self._reply.block(sse.event(body))

    async def raw(self, data: bytes) -> None:
        await self._reply.block(data)

    async def reply(self, body: bytes, status: int | None = None) -> None:
        await self.send(body)

    async def finish(self) -> None: ...

    def cut(self) -> None: ...


async def test_process_that_died_is_started_again_with_its_subscriptions() -> None:
    def prepare(hosting: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            if "died" in hosting.host.memory:
                return {"content": []}
            hosting.host.memory["died"] = True
            cycle.channel.cut()
            return DONE

        with_tool(hosting, work)

    listen = step("listen", notifications={"toolsListChanged": True})
    visited = await visit(
        listen, call("work"), prepare=prepare, revision=STATELESS, transport=Transport.STDIO
    )
    assert visited.ended.status == 0, visited.said
    assert visited.asked.count("subscriptions/listen") == 2


# -- versions ----------------------------------------------------------------------------------------------


async def test_version_that_nobody_knows_ends_the_guest() -> None:
    def prepare(hosting: ClientStage) -> None:
        @hosting.host.on("initialize")
        async def odd(cycle: RequestCycle) -> Answer:
            about = {"name": "odd", "version": "1"}
            return {"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": about}

    visited = await visit(LIST_TOOLS, prepare=prepare)
    assert visited.ended.status == 1
    assert visited.asked == ["initialize"]


async def test_server_without_the_probe_is_greeted_with_a_handshake() -> None:
    def prepare(hosting: ClientStage) -> None:
        @hosting.host.on("server/discover")
        async def unknown(cycle: RequestCycle) -> Answer:
            raise Refused(METHOD_NOT_FOUND, "no such method")

        @hosting.host.on("initialize")
        async def known(cycle: RequestCycle) -> Answer:
            about = {"name": "old", "version": "1"}
            return {"protocolVersion": SHAKING.date, "capabilities": {}, "serverInfo": about}

    visited = await visit(LIST_TOOLS, prepare=prepare, revision=STATELESS, transport=Transport.STDIO)
    assert visited.asked == ["server/discover", "initialize", "tools/list"]


async def test_refused_version_is_tried_again_where_the_server_names_one_that_both_know() -> None:
    def prepare(hosting: ClientStage) -> None:
        @hosting.host.on("tools/list")
        async def first_no(cycle: RequestCycle) -> Answer:
            if hosting.host.memory.setdefault("first", cycle.id) == cycle.id:
                raise Refused(UNSUPPORTED_VERSION, "not this one", {"supported": [STATELESS.date]})
            return {"tools": []}

    visited = await visit(LIST_TOOLS, prepare=prepare, revision=STATELESS)
    assert visited.ended.status == 0, visited.said
    assert visited.asked == ["server/discover", "tools/list", "tools/list"]


# -- time and order ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("revision", "transport", "tells"),
    [(SHAKING, Transport.HTTP, True), (STATELESS, Transport.HTTP, False), (STATELESS, Transport.STDIO, True)],
)
async def test_giving_up_is_told_as_the_revision_wants_it(
    revision: Revision, transport: Transport, tells: bool
) -> None:
    left = asyncio.Event()

    def prepare(hosting: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            asyncio.get_running_loop().create_task(gone(cycle))
            return SILENCE

        with_tool(hosting, work)

    async def gone(cycle: RequestCycle) -> None:
        await cycle.stay()
        left.set()

    slow = {**call("work"), "timeout": 0.05}
    visited = await visit(slow, LIST_TOOLS, prepare=prepare, revision=revision, transport=transport)
    assert visited.ended.status == 0, visited.said
    cancelled = [one for one in visited.trace.received if one.method == "notifications/cancelled"]
    assert bool(cancelled) is tells
    async with asyncio.timeout(5):
        await left.wait()


async def test_steps_that_are_taken_together_overlap() -> None:
    both = asyncio.Barrier(2)

    def prepare(hosting: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            async with asyncio.timeout(5):
                await both.wait()
            return {"content": []}

        with_tool(hosting, work)

    visited = await visit(step("together", steps=[call("work"), call("work")]), prepare=prepare)
    assert visited.ended.status == 0, visited.said


async def test_step_that_may_fail_does_not_end_the_guest() -> None:
    visited = await visit(tried(call("missing")), LIST_TOOLS)
    assert visited.ended.status == 0
    assert "call_tool failed, as it may" in visited.said


async def test_answer_with_another_id_is_nobodys() -> None:
    def prepare(hosting: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            await cycle.channel.reply(b'{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}')
            return DONE

        with_tool(hosting, work)

    visited = await visit(call("work"), prepare=prepare)
    assert visited.ended.status == 1
    assert "ended without an answer" in visited.said


# -- questions ---------------------------------------------------------------------------------------------


async def test_questions_by_retry_are_answered_with_the_state_that_came_with_them() -> None:
    state = '{"odd": "\\u00e4 state"}'

    def prepare(hosting: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            answers = await cycle.inquire({"who": ("roots/list", {}), "what": ("ping", {})}, state)
            hosting.host.memory["answers"] = answers
            return {"content": []}

        with_tool(hosting, work)

    root = {"uri": "file:///home", "name": "home"}
    visited = await visit(
        call("work"),
        prepare=prepare,
        revision=STATELESS,
        capabilities=("roots",),
        answers={"roots": [root]},
    )
    assert visited.ended.status == 0, visited.said
    first, second = visited.trace.inquiries("tools/call")
    assert second.request.id != first.request.id
    assert second.params["requestState"] == state
    assert second.params["inputResponses"] == {"who": {"roots": [root]}, "what": {}}


async def test_result_of_an_unknown_kind_is_invalid() -> None:
    def prepare(hosting: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            return {**input_required({}), "resultType": "of_another_kind"}

        with_tool(hosting, work)

    visited = await visit(call("work"), prepare=prepare, revision=STATELESS)
    assert visited.ended.status == 1
    assert "of_another_kind" in visited.said


async def test_questions_that_were_not_declared_are_refused() -> None:
    def prepare(hosting: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            for method in ("sampling/createMessage", "odd/method", "ping"):
                hosting.host.memory[method] = await cycle.ask(method, {})
            return {"content": []}

        with_tool(hosting, work)

    visited = await visit(call("work"), prepare=prepare)
    assert visited.ended.status == 0, visited.said
    codes = [one.code for one in visited.trace.exchanges() if one.method != "ping"]
    assert codes == [METHOD_NOT_FOUND, METHOD_NOT_FOUND]
    assert [one.result for one in visited.trace.exchanges("ping")] == [{}]


# -- lists and caches --------------------------------------------------------------------------------------


async def test_fresh_list_is_not_asked_for_again_until_it_changes() -> None:
    def prepare(hosting: ClientStage) -> None:
        hosting.host.hints = {"ttlMs": 600_000, "cacheScope": "private"}

        async def work(cycle: RequestCycle) -> Answer:
            await hosting.host.announce(CHANGED)
            return {"content": []}

        with_tool(hosting, work)

    listen = step("listen", notifications={"toolsListChanged": True})
    change = (call("work"), step("wait_for", notification=CHANGED, seconds=5))
    visited = await visit(
        listen, LIST_TOOLS, LIST_TOOLS, *change, LIST_TOOLS, prepare=prepare, revision=STATELESS
    )
    assert visited.ended.status == 0, visited.said
    assert visited.asked.count("tools/list") == 2


async def test_pages_are_followed_and_an_empty_cursor_is_one() -> None:
    def prepare(hosting: ClientStage) -> None:
        @hosting.host.on("resources/list")
        async def pages(cycle: RequestCycle) -> Answer:
            following = {None: "", "": "last"}.get(cycle.params.get("cursor"))
            return {"resources": []} | ({} if following is None else {"nextCursor": following})

    visited = await visit(step("list_resources"), prepare=prepare)
    cursors = [one.params.get("cursor") for one in visited.trace.inquiries("resources/list")]
    assert cursors == [None, "", "last"]


async def test_endless_pages_are_given_up() -> None:
    def prepare(hosting: ClientStage) -> None:
        @hosting.host.on("resources/list")
        async def same(cycle: RequestCycle) -> Answer:
            return {"resources": [], "nextCursor": "again"}

    visited = await visit(step("list_resources"), prepare=prepare)
    assert visited.ended.status == 1
    assert visited.asked.count("resources/list") == 2


async def test_output_that_does_not_fit_its_schema_is_an_error() -> None:
    schema = {"type": "object", "required": ["sum"]}

    def prepare(hosting: ClientStage) -> None:
        async def work(cycle: RequestCycle) -> Answer:
            return {"content": [], "structuredContent": {"total": 8}}

        with_tool(hosting, work, outputSchema=schema)

    visited = await visit(LIST_TOOLS, call("work"), prepare=prepare)
    assert visited.ended.status == 1
    assert "does not fit its schema" in visited.said
