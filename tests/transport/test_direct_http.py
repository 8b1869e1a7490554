"""`Server.http`: requests from a host that has its own HTTP server and does not speak ASGI."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Thread
from typing import Any

import pytest
import pytest_asyncio

from assay import Context, Limits, Response, Scope, Server
from assay.auth import Auth
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.transport.asgi.response import PartStream
from tests.auth.issuer import RESOURCE, serve_issuer
from tests.driving.answer import PATIENCE
from tests.driving.messages import call, initialize, notification, request
from tests.transport.subject import Subject

BOTH = "application/json, text/event-stream"
HEADERS = {"Host": "localhost", "Content-Type": "application/json", "Accept": BOTH}
NEWEST = PER_REQUEST[-1]


@pytest_asyncio.fixture
async def subject() -> AsyncIterator[Subject]:
    subject = Subject()
    yield subject
    await subject.server.stop()


async def post(
    server: Server, message: Any, headers: dict[str, str] | None = None, **options: Any
) -> Response:
    body = message if isinstance(message, (bytes, str)) else json.dumps(message)
    return await server.http("POST", "/mcp", {**HEADERS, **(headers or {})}, body, **options)


def header(response: Response, name: str) -> str | None:
    return dict(response.headers).get(name)


def declared(message: dict[str, Any]) -> dict[str, Any]:
    """The message as a client without a handshake sends it."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": NEWEST.date,
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "p",
    }
    return {**message, "params": {**message["params"], "_meta": meta}}


def mirrored(name: str) -> dict[str, str]:
    return {"MCP-Protocol-Version": NEWEST.date, "Mcp-Method": "tools/call", "Mcp-Name": name}


async def open_session(server: Server, **options: Any) -> dict[str, str]:
    response = await post(server, initialize(HANDSHAKE[-1]), **options)
    session = {"Mcp-Session-Id": header(response, "mcp-session-id") or ""}
    accepted = await post(server, notification("notifications/initialized"), session, **options)
    assert (accepted.status, accepted.body) == (202, b"")
    return session


async def test_a_call_is_answered_with_one_body(subject: Subject) -> None:
    response = await post(subject.server, call("add", 1, a=1, b=2))
    assert (response.status, response.stream) == (200, None)
    assert header(response, "content-type") == "application/json"
    assert json.loads(response.body)["result"]["content"][0]["text"] == '{"result":3}'
    assert await response.read() == response.body


@pytest.mark.parametrize(
    "headers",
    [
        {name.upper(): value for name, value in HEADERS.items()},
        {name.encode(): value.encode() for name, value in HEADERS.items()},
        list(HEADERS.items()),
        [(name.encode(), value) for name, value in HEADERS.items()],
        ((name, value.encode()) for name, value in HEADERS.items()),
    ],
)
async def test_headers_are_a_mapping_or_pairs_of_text_or_bytes(subject: Subject, headers: Any) -> None:
    response = await subject.server.http("post", "/mcp?x=1", headers, json.dumps(request("ping")))
    assert response.status == 200


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Accept": "application/json"}, 406),
        ({"MCP-Protocol-Version": "1999-01-01"}, 400),
        ({"Mcp-Session-Id": "unknown"}, 404),
        ({"X-Odd": "a\r\nb"}, 400),
        ({"X-Odd\r\nHost": "a"}, 400),
        ({"X-Odd": "\u2603"}, 200),
    ],
)
async def test_the_rules_of_the_asgi_application_apply(
    subject: Subject, change: dict[str, str], status: int
) -> None:
    response = await post(subject.server, request("ping"), change)
    assert response.status == status
    assert json.loads(response.body)["jsonrpc"] == "2.0"


@pytest.mark.parametrize("body", ["{", b"\xff", "\ud800", "", None, b"[]"])
async def test_a_body_that_is_no_message_gets_400(subject: Subject, body: Any) -> None:
    response = await subject.server.http("POST", "/mcp", HEADERS, body)
    assert response.status == 400
    assert json.loads(response.body)["error"]["code"] in (-32700, -32600)


@pytest.mark.parametrize(
    ("method", "path"), [("\ud800", "/mcp"), ("POST", "/\ud800"), ("POST", "/mcp?\ud800")]
)
async def test_a_request_line_that_is_no_text_gets_400(subject: Subject, method: str, path: str) -> None:
    response = await subject.server.http(method, path, HEADERS, json.dumps(request("ping")))
    assert (response.status, json.loads(response.body)["error"]["code"]) == (400, -32600)


async def test_a_repeated_header_is_refused(subject: Subject) -> None:
    pairs = [*HEADERS.items(), ("mcp-session-id", "a"), ("Mcp-Session-Id", "b")]
    response = await subject.server.http("POST", "/mcp", pairs, json.dumps(request("ping")))
    assert (response.status, b"header given twice" in response.body) == (400, True)


async def test_a_body_over_the_limit_is_refused_without_a_header_about_the_connection() -> None:
    server = Server("small", limits=Limits(message_bytes=100))
    response = await post(server, b" " * 101)
    assert response.status == 413
    assert header(response, "connection") is None
    await server.stop()


@pytest.mark.parametrize(("method", "status"), [("PUT", 405), ("HEAD", 405), ("GET", 405), ("OPTIONS", 204)])
async def test_other_methods_are_answered(subject: Subject, method: str, status: int) -> None:
    headers = {"Host": "localhost", "Accept": "text/event-stream"}
    assert (await subject.server.http(method, "/mcp", headers)).status == status


@pytest.mark.parametrize("path", ["/", "/other", "/mcp/x"])
async def test_another_path_gets_404(subject: Subject, path: str) -> None:
    assert (await subject.server.http("POST", path, HEADERS, "{}")).status == 404


@pytest.mark.parametrize(
    ("arguments", "error", "problem"),
    [
        ((None, "/mcp"), TypeError, "method must be text"),
        (("POST", "mcp"), ValueError, "path must begin with a slash"),
        (("POST", "http://localhost/mcp"), ValueError, "path must begin with a slash"),
        (("POST", "/mcp", {"Host": 3}), TypeError, "headers must be a mapping or pairs of str or bytes"),
        (("POST", "/mcp", "Host: localhost"), TypeError, "headers must be a mapping"),
        (("POST", "/mcp", [("Host",)]), TypeError, "headers must be a mapping"),
        (("POST", "/mcp", {}, {"id": 1}), TypeError, "body must be the bytes or text that arrived, not dict"),
    ],
)
async def test_a_mistake_of_the_host_is_an_exception(
    arguments: Any, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        await Server("s").http(*arguments)


async def test_a_scope_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(TypeError, match=r"scope must be an assay\.Scope"):
        await Server("s").http("POST", "/mcp", scope={"principal": "ada"})  # type: ignore[arg-type]


async def test_handlers_see_the_principal_and_the_state_of_the_scope(subject: Subject) -> None:
    scope = Scope(principal="ada", state={"tenant": 7})
    await post(subject.server, call("keep"), scope=scope)
    assert subject.last_context is not None
    context = subject.last_context.scope
    assert (context.principal, context.state, context.transport) == ("ada", {"tenant": 7}, "http")
    assert context.headers["host"] == "localhost"


async def test_a_session_belongs_to_the_principal_that_opened_it(subject: Subject) -> None:
    session = await open_session(subject.server, scope=Scope(principal="ada"))
    own = await post(subject.server, request("ping"), session, scope=Scope(principal="ada"))
    other = await post(subject.server, request("ping"), session, scope=Scope(principal="bob"))
    assert (own.status, other.status) == (200, 404)


async def test_progress_arrives_as_a_stream_while_the_handler_runs(subject: Subject) -> None:
    response = await post(subject.server, declared(call("report", steps=2)), mirrored("report"))
    assert response.body == b""
    assert header(response, "content-type") == "text/event-stream"
    assert response.stream is not None
    parts = [part async for part in response.stream]
    messages = [json.loads(part.partition(b"data: ")[2]) for part in parts]
    assert [message.get("method", "answer") for message in messages] == ["notifications/progress"] * 2 + [
        "answer"
    ]


async def test_a_stream_can_be_read_as_one_body(subject: Subject) -> None:
    response = await post(subject.server, declared(call("report", steps=3)), mirrored("report"))
    assert (await response.read()).count(b"data: ") == 4
    assert await response.read() == b""


async def test_plain_http_drops_progress(subject: Subject) -> None:
    subject.server.configure_http(stream="off")
    response = await post(subject.server, declared(call("report")), mirrored("report"))
    assert response.stream is None
    assert json.loads(response.body)["result"]["content"][0]["text"] == "done"


async def test_closing_a_stream_cancels_the_request_where_the_revision_says_so(subject: Subject) -> None:
    async with asyncio.timeout(PATIENCE):
        listening = await post(
            subject.server,
            declared(request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})),
            {**mirrored(""), "Mcp-Method": "subscriptions/listen"},
        )
        assert listening.stream is not None
        assert b"acknowledged" in await anext(listening.stream)
        await listening.close()
        await listening.close()
        assert [part async for part in listening.stream] == []


async def test_closing_a_stream_of_a_session_leaves_the_request_running(subject: Subject) -> None:
    session = await open_session(subject.server)
    message = call("wait", 7)
    message["params"]["_meta"] = {"progressToken": "p"}

    @subject.server.tool
    async def wait(ctx: Context) -> str:
        await ctx.progress(1)
        return await subject.hold(ctx)

    async with asyncio.timeout(PATIENCE):
        response = await post(subject.server, message, session)
        assert response.stream is not None
        while b"progress" not in await anext(response.stream):
            pass
        await subject.started.wait()
        await response.close()
        again = await post(subject.server, request("ping", None, 7), session)
        assert b"already in use" in again.body
        subject.release.set()
    assert not subject.cancelled.is_set()


async def test_a_cancelled_host_counts_as_a_disconnected_client(subject: Subject) -> None:
    waiting = asyncio.ensure_future(post(subject.server, declared(call("hold")), mirrored("hold")))
    async with asyncio.timeout(PATIENCE):
        await subject.started.wait()
        waiting.cancel()
        await subject.cancelled.wait()


async def test_get_follows_the_session_until_it_is_deleted(subject: Subject) -> None:
    session = await open_session(subject.server)
    headers = {"Host": "localhost", **session}
    async with asyncio.timeout(PATIENCE):
        following = await subject.server.http("GET", "/mcp", {**headers, "Accept": "text/event-stream"})
        assert following.stream is not None
        await anext(following.stream)
        assert (await subject.server.http("DELETE", "/mcp", headers)).status == 204
        assert [part async for part in following.stream] == []


async def test_stopping_ends_sessions_and_streams_and_a_later_request_starts_again(subject: Subject) -> None:
    session = await open_session(subject.server)
    accept = {"Host": "localhost", "Accept": "text/event-stream", **session}
    following = await subject.server.http("GET", "/mcp", accept)
    async with asyncio.timeout(PATIENCE):
        await subject.server.stop()
        await following.read()
    assert (await post(subject.server, request("ping"), session)).status == 404
    assert (await post(subject.server, request("ping"))).status == 200


async def test_a_host_that_takes_nothing_for_too_long_counts_as_disconnected() -> None:
    parts = PartStream(patience=0.01)
    await parts.put(b"first")
    with pytest.raises(OSError, match="gone"):
        await parts.put(b"second")
    assert parts.departed.is_set()
    assert [part async for part in parts] == []


async def test_a_failure_after_the_first_part_reaches_the_host() -> None:
    parts = PartStream(patience=PATIENCE)
    await parts.put(b"first")
    parts.end(RuntimeError("broken"))
    assert await anext(parts) == b"first"
    with pytest.raises(RuntimeError, match="broken"):
        await anext(parts)


async def test_background_work_runs_from_the_first_request_until_the_stop() -> None:
    server, ran, ended = Server("s"), asyncio.Event(), asyncio.Event()

    @server.background
    async def work() -> None:
        ran.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    await post(server, request("ping"))
    async with asyncio.timeout(PATIENCE):
        await ran.wait()
        await server.stop()
    assert ended.is_set()


def test_a_loop_per_request_is_served_without_the_earlier_sessions() -> None:
    subject = Server("s")
    session = asyncio.run(open_session(subject))
    assert asyncio.run(post(subject, request("ping"))).status == 200
    assert asyncio.run(post(subject, request("ping"), session)).status == 404


def test_one_runner_keeps_sessions() -> None:
    subject = Server("s")
    with asyncio.Runner() as runner:
        session = runner.run(open_session(subject))
        assert runner.run(post(subject, request("ping"), session)).status == 200
        runner.run(subject.stop())


def test_the_server_can_be_stopped_from_another_thread() -> None:
    subject, loop = Server("s"), asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    session = asyncio.run_coroutine_threadsafe(open_session(subject), loop).result(PATIENCE)
    asyncio.run(subject.stop())
    answer = asyncio.run_coroutine_threadsafe(post(subject, request("ping"), session), loop).result(PATIENCE)
    asyncio.run_coroutine_threadsafe(subject.stop(), loop).result(PATIENCE)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(PATIENCE)
    loop.close()
    assert answer.status == 404


def test_two_loops_at_once_are_refused() -> None:
    subject = Server("s")
    with asyncio.Runner() as first, asyncio.Runner() as second:
        first.run(post(subject, request("ping")))
        with pytest.raises(RuntimeError, match="in use on another event loop: call it from one loop"):
            second.run(post(subject, request("ping")))
        first.run(subject.stop())


async def test_options_are_those_of_the_asgi_application() -> None:
    server = Server("s")
    server.configure_http(path=None, allowed_hosts=["mcp.example.com"])
    headers = {**HEADERS, "Host": "mcp.example.com"}
    assert (await server.http("POST", "/any/where", headers, json.dumps(request("ping")))).status == 200
    with pytest.raises(RuntimeError, match="before"):
        server.configure_http(path="/late")
    await server.stop()


def test_options_are_checked_at_once() -> None:
    with pytest.raises(TypeError, match="unknown option: alowed_hosts; did you mean allowed_hosts"):
        Server("s").configure_http(alowed_hosts=["x"])  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="path must start with a slash"):
        Server("s").configure_http(path="mcp")


async def test_a_token_is_required_where_the_server_says_so(subject: Subject) -> None:
    async with serve_issuer() as issuer:
        subject.server.auth = Auth(issuer=issuer.url, audience=RESOURCE, jwks=issuer.jwks)
        refused = await post(subject.server, call("keep"), scope=Scope(principal="mallory"))
        assert (refused.status, subject.last_context) == (401, None)
        assert "resource_metadata" in (header(refused, "www-authenticate") or "")
        token = {"Authorization": f"Bearer {issuer.mint()}"}
        assert (await post(subject.server, call("keep"), token)).status == 200
    assert subject.last_context is not None
    assert subject.last_context.scope.principal != "mallory"


def with_lifespan(events: list[str]) -> Server:
    @asynccontextmanager
    async def database(server: Server) -> AsyncIterator[str]:
        events.append("enter")
        yield "connected"
        events.append("exit")

    server = Server("s", lifespan=database)

    @server.tool
    async def state(ctx: Context) -> str:
        return str(ctx.lifespan)

    return server


async def test_the_lifespan_is_entered_once_and_exited_by_stop() -> None:
    events: list[str] = []
    server = with_lifespan(events)
    answers = await asyncio.gather(post(server, call("state")), post(server, call("state")))
    assert all(b"connected" in answer.body for answer in answers)
    assert events == ["enter"]
    await server.stop()
    assert events == ["enter", "exit"]


async def test_a_lifespan_that_fails_is_an_exception_of_every_request() -> None:
    @asynccontextmanager
    async def broken(server: Server) -> AsyncIterator[None]:
        raise OSError("no database")
        yield

    server = Server("s", lifespan=broken)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no database"):
            await post(server, request("ping"))
    await server.stop()
