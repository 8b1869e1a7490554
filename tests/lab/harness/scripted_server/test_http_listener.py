"""The scripted server on HTTP, from the view of a plain socket."""

import asyncio

import pytest

from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.scripted_server import server
from assay.lab.harness.scripted_server.answer import SILENCE, Answer, AnswerError, Raw
from assay.lab.harness.scripted_server.http_listener import SESSION
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.trace.frame import Kind, Sender
from assay.revisions.registry import PER_REQUEST
from tests.lab.harness.scripted_server.raw_client import data_of, message, open_stage


async def test_request_is_answered_on_a_stream_or_as_json_depending_on_the_revision() -> None:
    async with open_stage() as running:
        client = await running.connect()
        answer = await client.ask("POST", "/mcp", message("ping", 1))
        assert answer.head.media_type == "text/event-stream"
        assert data_of(answer.body) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    async with open_stage(revision=PER_REQUEST[-1]) as running:
        answer = await (await running.connect()).ask("POST", "/mcp", message("tools/list", 2))
        assert answer.head.media_type == "application/json"
        assert (answer.json["result"]["tools"], answer.json["result"]["resultType"]) == ([], "complete")


async def test_one_connection_serves_many_requests_and_each_has_its_channel() -> None:
    async with open_stage() as running:
        client = await running.connect()
        await client.ask("POST", "/mcp", message("ping", 1))
        noted = await client.ask("POST", "/mcp", message("notifications/initialized"))
        assert noted.head.status == 202
        expected = [(Sender.SUBJECT, Kind.REQUEST), (Sender.DRIVER, Kind.HEAD), (Sender.DRIVER, Kind.END)]
        assert running.frames("1/post-2") == expected
        assert (Sender.DRIVER, Kind.EVENT) in running.frames("1/post-1")


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
async def test_invalid_requests_are_refused(method: str, path: str, body: bytes, status: int) -> None:
    async with open_stage() as running:
        answer = await (await running.connect()).ask(method, path, body)
        assert answer.head.status == status


async def test_unknown_methods_and_refusals_are_errors() -> None:
    async with open_stage(revision=PER_REQUEST[-1]) as running:

        @running.stage.server.on("odd")
        async def refuse(cycle: RequestCycle) -> Answer:
            raise AnswerError(-32099, "no", {"why": "odd"}, status=418)

        client = await running.connect()
        unknown = await client.ask("POST", "/mcp", message("no/such", 1))
        assert unknown.json["error"]["code"] == -32601
        refused = await client.ask("POST", "/mcp", message("odd", 2))
        assert refused.head.status == 418
        assert refused.json["error"] == {"code": -32099, "message": "no", "data": {"why": "odd"}}


@pytest.mark.parametrize("cursor", ["[]", '"at:1"', '"at:-2"', '"at:%s"' % ("9" * 5000), "3"])
async def test_unknown_cursor_is_refused(cursor: str) -> None:
    async with open_stage(revision=PER_REQUEST[-1]) as running:
        server = running.stage.server
        server.page = 2
        for name in "abc":
            server.add_tool({"name": name})
        body = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":%s}}'
        answer = await (await running.connect()).ask("POST", "/mcp", (body % cursor).encode())
        assert answer.json["error"]["code"] == -32602
        last = await (await running.connect()).ask("POST", "/mcp", (body % '"at:2"').encode())
        assert [tool["name"] for tool in last.json["result"]["tools"]] == ["c"]
    assert running.stage.fault is None


async def test_writing_to_a_disconnected_client_logs_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    over = asyncio.Event()
    async with open_stage() as running:

        @running.stage.server.on("tools/call")
        async def notify(cycle: RequestCycle) -> Answer:
            await cycle.notify("notifications/message")
            await cycle.wait_for_disconnect()
            for _ in range(20):
                await cycle.notify("notifications/message")
            over.set()
            return {"content": []}

        client = await running.connect()
        client.send("POST", "/mcp", message("tools/call", 1))
        await client.head()
        client.writer.transport.abort()
        await asyncio.wait_for(over.wait(), 10)
    assert caplog.messages == []


async def test_batch_is_answered_on_one_stream() -> None:
    async with open_stage() as running:
        body = b"[%s,%s]" % (message("ping", 1), message("ping", 2))
        answer = await (await running.connect()).ask("POST", "/mcp", body)
        assert sorted(each["id"] for each in data_of(answer.body)) == [1, 2]


async def test_chunked_body_is_decoded() -> None:
    async with open_stage() as running:
        client = await running.connect()
        body = message("ping", 7)
        chunks = b"%x\r\n%s\r\n%x;odd=1\r\n%s\r\n0\r\n\r\n" % (3, body[:3], len(body) - 3, body[3:])
        answer = await client.ask("POST", "/mcp", chunks, Transfer_Encoding="chunked")
        assert data_of(answer.body)[0]["id"] == 7
        (sent,) = running.recorder.trace(closed=True).subject_exchanges("ping")
        assert sent.request.body == body


async def test_session_is_created_required_and_deleted() -> None:
    async with open_stage() as running:
        running.stage.server.sessions = True
        client = await running.connect()
        opened = await client.ask("POST", "/mcp", message("initialize", 1))
        session = opened.head.get(SESSION) or ""
        known = {"Mcp_Session_Id": session}
        assert (await client.ask("POST", "/mcp", message("ping", 2), **known)).head.status == 200
        assert (await client.ask("POST", "/mcp", message("ping", 3))).head.status == 400
        other = await client.ask("POST", "/mcp", message("ping", 4), Mcp_Session_Id="other")
        assert other.head.status == 404
        assert (await client.ask("DELETE", "/mcp", b"", **known)).head.status == 200
        assert (await client.ask("POST", "/mcp", message("ping", 5), **known)).head.status == 404


async def test_announcement_is_sent_on_the_get_stream() -> None:
    async with open_stage() as running:
        running.stage.server.standalone = True
        client = await running.connect()
        client.send("GET", "/mcp", Accept="text/event-stream")
        assert (await client.head()).media_type == "text/event-stream"
        await running.stage.server.announce("notifications/tools/list_changed")
        chunk = await anext(client.chunks())
        assert data_of(chunk)[0]["method"] == "notifications/tools/list_changed"


async def test_subscription_with_an_unusual_id_gets_announcements_with_that_id() -> None:
    async with open_stage(revision=PER_REQUEST[-1]) as running:
        client = await running.connect()
        client.send("POST", "/mcp", b'{"jsonrpc":"2.0","id":[1],"method":"subscriptions/listen"}')
        await client.head()
        stream = client.chunks()
        assert data_of(await anext(stream))[0]["method"] == "notifications/subscriptions/acknowledged"
        await running.stage.server.announce("notifications/tools/list_changed")
        assert data_of(await anext(stream))[0]["params"]["_meta"][SUBSCRIPTION_KEY] == [1]
    assert running.stage.fault is None


async def test_request_to_the_client_is_sent_on_the_stream_and_answered_by_post() -> None:
    async with open_stage() as running:

        @running.stage.server.on("tools/call")
        async def ask(cycle: RequestCycle) -> Answer:
            answer = await cycle.ask("roots/list", {})
            return {"content": [], "roots": answer["result"]["roots"]}

        client, other = [await running.connect() for _ in range(2)]
        client.send("POST", "/mcp", message("tools/call", 1))
        await client.head()
        stream = client.chunks()
        (question,) = data_of(await anext(stream))
        result = b'{"jsonrpc":"2.0","id":"%s","result":{"roots":[1]}}' % question["id"].encode()
        assert (await other.ask("POST", "/mcp", result)).head.status == 202
        assert data_of(await anext(stream))[0]["result"]["roots"] == [1]


async def test_disconnection_is_recorded_and_ends_the_wait() -> None:
    async with open_stage() as running:
        gone = asyncio.Event()

        @running.stage.server.on("tools/call")
        async def wait(cycle: RequestCycle) -> Answer:
            await cycle.notify("notifications/message")
            await cycle.wait_for_disconnect()
            gone.set()
            return SILENCE

        client = await running.connect()
        client.send("POST", "/mcp", message("tools/call", 1))
        await client.head()
        await client.close()
        async with asyncio.timeout(10):
            await gone.wait()
    assert (Sender.SUBJECT, Kind.END) in running.frames("1/post-1")


async def test_scenario_answers_http_itself_sends_raw_bytes_or_disconnects() -> None:
    async with open_stage(revision=PER_REQUEST[-1]) as running:
        server = running.stage.server

        @server.on_http
        async def redirect(request: InboundRequest, reply: HttpReply) -> bool:
            if request.path == "/old":
                await reply.respond(307, b"", [("Location", "/mcp?of=old")])
            return request.path == "/old"

        @server.on("odd")
        async def odd(cycle: RequestCycle) -> Answer:
            return Raw(b"<odd>", 200)

        @server.on("cut")
        async def cut(cycle: RequestCycle) -> Answer:
            cycle.channel.cut()
            return SILENCE

        client = await running.connect()
        assert (await client.ask("GET", "/old?x=1")).head.get("location") == "/mcp?of=old"
        assert (await client.ask("POST", "/mcp", message("odd", 1))).body == b"<odd>"
        client.send("POST", "/mcp", message("cut", 2))
        assert await client.is_cut()
    assert running.stage.fault is None


async def test_server_listens_on_ipv6_too() -> None:
    async with open_stage() as running:
        try:
            client = await running.connect(host="::1")
        except OSError:
            pytest.skip("this machine has no IPv6")
        assert (await client.ask("POST", "/mcp", message("ping", 1))).head.status == 200


async def test_other_servers_are_recorded_on_their_own_channels() -> None:
    async with open_stage() as running:

        async def serve(request: InboundRequest, reply: HttpReply) -> None:
            await reply.respond(200, f"{request.method} {request.query} {request.form}".encode())

        origin = await running.stage.add_server("shop", serve)
        answer = await (await running.connect(origin)).ask("POST", "/buy?a=1&b=", b"c=2")
        assert answer.body == b"POST {'a': '1', 'b': ''} {'c': '2'}"
        head = await (await running.connect(origin)).ask("GET", "/")
        assert head.head.status == 200
    assert running.frames("shop/post-1")[0] == (Sender.SUBJECT, Kind.REQUEST)
    frames = running.recorder.trace(closed=True).frames
    frame = next(frame for frame in frames if frame.channel == "shop/post-1")
    assert frame.info == {"at": "shop"}


@pytest.mark.parametrize("where", ["handler", "hook", "server"])
async def test_error_in_a_callback_is_stored_and_disconnects(where: str) -> None:
    async with open_stage() as running:

        async def fail(*arguments: object) -> bool:
            raise ValueError("ours")

        origin = running.stage.origin
        if where == "handler":
            running.stage.server.on("ping")(fail)  # type: ignore[arg-type]
        elif where == "hook":
            running.stage.server.on_http(fail)
        else:
            origin = await running.stage.add_server("other", fail)  # type: ignore[arg-type]
        client = await running.connect(origin)
        client.send("POST", "/mcp", message("ping", 1))
        assert await client.is_cut()
    assert str(running.stage.fault) == "ours"


async def test_announcement_without_a_listener_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PATIENCE", 0.01)
    async with open_stage() as running:

        @running.stage.server.on("tools/call")
        async def call(cycle: RequestCycle) -> Answer:
            await cycle.server.announce("notifications/tools/list_changed")
            return {"content": []}

        answer = await (await running.connect()).ask("POST", "/mcp", message("tools/call", 1))
        assert data_of(answer.body)[0]["result"] == {"content": []}
    assert running.stage.fault is None
