"""The host on HTTP: plain sockets see what a client would see."""

import asyncio

import pytest

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.scripted_server import server as host
from assay.lab.harness.scripted_server.answer import SILENCE, Answer, Raw, Refused
from assay.lab.harness.scripted_server.http_listener import SESSION
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.trace.frame import Kind, Sender
from assay.revisions.registry import PER_REQUEST
from tests.lab.harness.scripted_server.callers import data_of, hosted, message


async def test_request_is_answered_on_a_stream_or_as_json_as_the_revision_does() -> None:
    async with hosted() as one:
        caller = await one.call()
        answer = await caller.ask("POST", "/mcp", message("ping", 1))
        assert answer.head.media_type == "text/event-stream"
        assert data_of(answer.body) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    async with hosted(revision=PER_REQUEST[-1]) as one:
        answer = await (await one.call()).ask("POST", "/mcp", message("tools/list", 2))
        assert answer.head.media_type == "application/json"
        assert (answer.json["result"]["tools"], answer.json["result"]["resultType"]) == ([], "complete")


async def test_one_connection_serves_many_requests_and_each_has_its_channel() -> None:
    async with hosted() as one:
        caller = await one.call()
        await caller.ask("POST", "/mcp", message("ping", 1))
        noted = await caller.ask("POST", "/mcp", message("notifications/initialized"))
        assert noted.head.status == 202
        expected = [(Sender.SUBJECT, Kind.REQUEST), (Sender.DRIVER, Kind.HEAD), (Sender.DRIVER, Kind.END)]
        assert one.frames("1/post-2") == expected
        assert (Sender.DRIVER, Kind.EVENT) in one.frames("1/post-1")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/mcp", b"", 405),
        ("DELETE", "/mcp", b"", 405),
        ("PUT", "/mcp", b"", 405),
        ("POST", "/elsewhere", message("ping", 1), 404),
        ("POST", "/mcp", b"{", 400),
        ("POST", "/mcp", b"\xff", 400),
    ],
)
async def test_what_has_no_place_is_turned_away(method: str, path: str, body: bytes, status: int) -> None:
    async with hosted() as one:
        answer = await (await one.call()).ask(method, path, body)
        assert answer.head.status == status


async def test_unknown_methods_and_refusals_are_errors() -> None:
    async with hosted(revision=PER_REQUEST[-1]) as one:

        @one.hosting.host.on("odd")
        async def refuse(cycle: RequestCycle) -> Answer:
            raise Refused(-32099, "no", {"why": "odd"}, status=418)

        caller = await one.call()
        unknown = await caller.ask("POST", "/mcp", message("no/such", 1))
        assert unknown.json["error"]["code"] == -32601
        refused = await caller.ask("POST", "/mcp", message("odd", 2))
        assert refused.head.status == 418
        assert refused.json["error"] == {"code": -32099, "message": "no", "data": {"why": "odd"}}


@pytest.mark.parametrize("cursor", ["[]", '"at:1"', '"at:-2"', '"at:%s"' % ("9" * 5000), "3"])
async def test_cursor_that_was_never_given_is_refused(cursor: str) -> None:
    async with hosted(revision=PER_REQUEST[-1]) as one:
        host = one.hosting.host
        host.page = 2
        for name in "abc":
            host.add_tool({"name": name})
        body = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":%s}}'
        answer = await (await one.call()).ask("POST", "/mcp", (body % cursor).encode())
        assert answer.json["error"]["code"] == -32602
        last = await (await one.call()).ask("POST", "/mcp", (body % '"at:2"').encode())
        assert [tool["name"] for tool in last.json["result"]["tools"]] == ["c"]
    assert one.hosting.fault is None


async def test_writing_to_a_client_that_left_is_not_complained_about(
    caplog: pytest.LogCaptureFixture,
) -> None:
    over = asyncio.Event()
    async with hosted() as one:

        @one.hosting.host.on("tools/call")
        async def talk(cycle: RequestCycle) -> Answer:
            await cycle.notify("notifications/message")
            await cycle.stay()
            for _ in range(20):
                await cycle.notify("notifications/message")
            over.set()
            return {"content": []}

        caller = await one.call()
        caller.send("POST", "/mcp", message("tools/call", 1))
        await caller.head()
        caller.writer.transport.abort()
        await asyncio.wait_for(over.wait(), 10)
    assert caplog.messages == []


async def test_batch_is_answered_on_one_stream() -> None:
    async with hosted() as one:
        body = b"[%s,%s]" % (message("ping", 1), message("ping", 2))
        answer = await (await one.call()).ask("POST", "/mcp", body)
        assert sorted(each["id"] for each in data_of(answer.body)) == [1, 2]


async def test_chunked_body_is_read_with_its_coding_undone() -> None:
    async with hosted() as one:
        caller = await one.call()
        body = message("ping", 7)
        chunks = b"%x\r\n%s\r\n%x;odd=1\r\n%s\r\n0\r\n\r\n" % (3, body[:3], len(body) - 3, body[3:])
        answer = await caller.ask("POST", "/mcp", chunks, Transfer_Encoding="chunked")
        assert data_of(answer.body)[0]["id"] == 7
        (sent,) = one.recorder.trace(closed=True).inquiries("ping")
        assert sent.request.body == body


async def test_session_is_given_asked_for_and_ended() -> None:
    async with hosted() as one:
        one.hosting.host.sessions = True
        caller = await one.call()
        opened = await caller.ask("POST", "/mcp", message("initialize", 1))
        session = opened.head.get(SESSION) or ""
        known = {"Mcp_Session_Id": session}
        assert (await caller.ask("POST", "/mcp", message("ping", 2), **known)).head.status == 200
        assert (await caller.ask("POST", "/mcp", message("ping", 3))).head.status == 400
        other = await caller.ask("POST", "/mcp", message("ping", 4), Mcp_Session_Id="other")
        assert other.head.status == 404
        assert (await caller.ask("DELETE", "/mcp", b"", **known)).head.status == 200
        assert (await caller.ask("POST", "/mcp", message("ping", 5), **known)).head.status == 404


async def test_announcement_comes_on_the_stream_of_a_get() -> None:
    async with hosted() as one:
        one.hosting.host.standalone = True
        caller = await one.call()
        caller.send("GET", "/mcp", Accept="text/event-stream")
        assert (await caller.head()).media_type == "text/event-stream"
        await one.hosting.host.announce("notifications/tools/list_changed")
        heard = await anext(caller.chunks())
        assert data_of(heard)[0]["method"] == "notifications/tools/list_changed"


async def test_listener_with_an_odd_id_is_announced_to_by_that_id() -> None:
    async with hosted(revision=PER_REQUEST[-1]) as one:
        caller = await one.call()
        caller.send("POST", "/mcp", b'{"jsonrpc":"2.0","id":[1],"method":"subscriptions/listen"}')
        await caller.head()
        stream = caller.chunks()
        assert data_of(await anext(stream))[0]["method"] == "notifications/subscriptions/acknowledged"
        await one.hosting.host.announce("notifications/tools/list_changed")
        assert data_of(await anext(stream))[0]["params"]["_meta"][SUBSCRIPTION_KEY] == [1]
    assert one.hosting.fault is None


async def test_question_is_asked_on_the_stream_of_a_request_and_its_answer_comes_by_post() -> None:
    async with hosted() as one:

        @one.hosting.host.on("tools/call")
        async def ask(cycle: RequestCycle) -> Answer:
            answer = await cycle.ask("roots/list", {})
            return {"content": [], "roots": answer["result"]["roots"]}

        caller, other = [await one.call() for _ in range(2)]
        caller.send("POST", "/mcp", message("tools/call", 1))
        await caller.head()
        stream = caller.chunks()
        (question,) = data_of(await anext(stream))
        result = b'{"jsonrpc":"2.0","id":"%s","result":{"roots":[1]}}' % question["id"].encode()
        assert (await other.ask("POST", "/mcp", result)).head.status == 202
        assert data_of(await anext(stream))[0]["result"]["roots"] == [1]


async def test_client_that_hangs_up_is_noted_and_waited_for_no_longer() -> None:
    async with hosted() as one:
        gone = asyncio.Event()

        @one.hosting.host.on("tools/call")
        async def wait(cycle: RequestCycle) -> Answer:
            await cycle.notify("notifications/message")
            await cycle.stay()
            gone.set()
            return SILENCE

        caller = await one.call()
        caller.send("POST", "/mcp", message("tools/call", 1))
        await caller.head()
        await caller.close()
        async with asyncio.timeout(10):
            await gone.wait()
    assert (Sender.SUBJECT, Kind.END) in one.frames("1/post-1")


async def test_scenario_may_answer_http_itself_say_anything_or_cut() -> None:
    async with hosted(revision=PER_REQUEST[-1]) as one:
        host = one.hosting.host

        @host.on_http
        async def redirect(asked: Asked, reply: HttpReply) -> bool:
            if asked.path == "/old":
                await reply.whole(307, b"", [("Location", "/mcp?of=old")])
            return asked.path == "/old"

        @host.on("odd")
        async def odd(cycle: RequestCycle) -> Answer:
            return Raw(b"<odd>", 200)

        @host.on("cut")
        async def cut(cycle: RequestCycle) -> Answer:
            cycle.channel.cut()
            return SILENCE

        caller = await one.call()
        assert (await caller.ask("GET", "/old?x=1")).head.get("location") == "/mcp?of=old"
        assert (await caller.ask("POST", "/mcp", message("odd", 1))).body == b"<odd>"
        caller.send("POST", "/mcp", message("cut", 2))
        assert await caller.is_cut()
    assert one.hosting.fault is None


async def test_both_families_of_addresses_reach_the_host() -> None:
    async with hosted() as one:
        try:
            caller = await one.call(host="::1")
        except OSError:
            pytest.skip("this machine has no IPv6")
        assert (await caller.ask("POST", "/mcp", message("ping", 1))).head.status == 200


async def test_other_rooms_are_recorded_apart() -> None:
    async with hosted() as one:

        async def serve(asked: Asked, reply: HttpReply) -> None:
            await reply.whole(200, f"{asked.method} {asked.query} {asked.form}".encode())

        origin = await one.hosting.room("shop", serve)
        answer = await (await one.call(origin)).ask("POST", "/buy?a=1&b=", b"c=2")
        assert answer.body == b"POST {'a': '1', 'b': ''} {'c': '2'}"
        head = await (await one.call(origin)).ask("GET", "/")
        assert head.head.status == 200
    assert one.frames("shop/post-1")[0] == (Sender.SUBJECT, Kind.REQUEST)
    (frame,) = [each for each in one.recorder.trace(closed=True).frames if each.channel == "shop/post-1"][:1]
    assert frame.info == {"at": "shop"}


@pytest.mark.parametrize("where", ["handler", "hook", "room"])
async def test_fault_of_ours_is_kept_and_hangs_up(where: str) -> None:
    async with hosted() as one:

        async def fail(*given: object) -> bool:
            raise ValueError("ours")

        origin = one.hosting.origin
        if where == "handler":
            one.hosting.host.on("ping")(fail)  # type: ignore[arg-type]
        elif where == "hook":
            one.hosting.host.on_http(fail)
        else:
            origin = await one.hosting.room("room", fail)  # type: ignore[arg-type]
        caller = await one.call(origin)
        caller.send("POST", "/mcp", message("ping", 1))
        assert await caller.is_cut()
    assert str(one.hosting.fault) == "ours"


async def test_announcement_that_nobody_waits_for_harms_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "PATIENCE", 0.01)
    async with hosted() as one:

        @one.hosting.host.on("tools/call")
        async def call(cycle: RequestCycle) -> Answer:
            await cycle.host.announce("notifications/tools/list_changed")
            return {"content": []}

        answer = await (await one.call()).ask("POST", "/mcp", message("tools/call", 1))
        assert data_of(answer.body)[0]["result"] == {"content": []}
    assert one.hosting.fault is None
