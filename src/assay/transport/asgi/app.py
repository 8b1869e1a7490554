"""The ASGI application: checks a request by the rules of `protocol.http` and dispatches its message."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import UNSET

from assay.model.error import LifespanFailed, MalformedMessage, RpcError, StoreAway
from assay.model.jsonrpc import Envelope, Outcome, Reply
from assay.protocol.codec import decode, encode_outcome, error_reply, known_id
from assay.protocol.http.asgi import AsgiScope, JoinsHost, Message, Receive, Transmit, path_here
from assay.protocol.http.busy import refusal_while_stopping
from assay.protocol.http.head_policy import (
    JSON,
    Admission,
    HeadPolicy,
    HeadTooLarge,
    Refusal,
    merge_headers,
)
from assay.protocol.http.policy import HttpPolicy, Sessions
from assay.protocol.http.route import (
    InSession,
    Payload,
    Route,
    Sessionless,
    batch_refused,
    route,
    session_gone,
    sessions_full,
    store_away,
    version_problem,
)
from assay.protocol.scope import Scope
from assay.revisions.registry import ASSUMED
from assay.revisions.revision import Batching, Revision
from assay.transport.port import Endpoint

from .body import IncompleteBody, body_or_first_part, read_body, size_taken_at_once
from .body_pace import BodyPace
from .exchange import Exchange, StreamTiming, refuse, respond
from .follower import Follower, find_position
from .operations import Operations
from .request import HttpRequest, RequestSettings
from .sessions import HttpSession, HttpSessions
from .websocket import WebSockets

Serve = Callable[[HttpRequest], Awaitable[None]]
CLOSE: Final = (b"connection", b"close")


class AsgiApp(JoinsHost):
    """Created by `Server.asgi`. A host that authenticates callers puts a `Scope` under `"assay"` into the
    ASGI scope before it calls this application."""

    def __init__(
        self,
        endpoint: Endpoint,
        policy: HttpPolicy,
        sessions: HttpSessions,
        *,
        heartbeat: float,
        retry: float,
        operations: Operations | None = None,
    ) -> None:
        self.policy = policy
        self._endpoint = endpoint
        self._sessions = sessions
        self._head_policy = HeadPolicy(policy)
        self._settings = RequestSettings(StreamTiming(heartbeat, retry), policy.trusted_proxies)
        self._taken_at_once = size_taken_at_once(endpoint.limits)
        self._pace = BodyPace(endpoint.limits, endpoint.time_shares)
        self._websockets = WebSockets(endpoint, self._head_policy, self._pace, self._is_socket_here)
        self._methods = self._served_methods()
        self._stopping: Refusal | None = None
        self._operations = operations or Operations(None)

    def _served_methods(self) -> dict[str, Serve]:
        return {"POST": self._post, "GET": self._get, "DELETE": self._delete, "OPTIONS": self._options}

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        if scope["type"] != "http":
            return await self._not_http(scope, receive, send)
        headers = dict(scope["headers"])
        verdict = self._judge(scope, headers)
        if not isinstance(verdict, Admission):
            return await self._reject(verdict, scope, send)
        request = HttpRequest(scope, headers, verdict, receive, send, self._settings)
        return await self._methods[scope["method"]](request)

    def start(self) -> Awaitable[None]:
        """Start the endpoint; await the result before the first request."""
        self._stopping = self._websockets.stopping = None
        self._operations.draining = False
        self._methods = self._served_methods()
        return self._endpoint.start()

    async def close(self) -> None:
        """Stop serving: refuse new requests, wait up to `limits.drain` seconds for those in progress, answer
        the others with an error, and end all sessions and streams."""
        self._stopping = self._websockets.stopping = refusal_while_stopping(self._endpoint.limits.drain)
        self._operations.draining = True
        # Another table instead of a condition, which every request would check.
        self._methods = dict.fromkeys(self._methods, self._refuse_while_stopping)
        self._endpoint.end_listening()
        await asyncio.gather(self._endpoint.drain(), self._websockets.close())
        await self._sessions.close()
        await self._endpoint.stop()

    async def _refuse_while_stopping(self, request: HttpRequest) -> None:
        assert self._stopping is not None
        # HTTP/2 forbids this header: a frame closes its connections.
        closing = [CLOSE] if request.asgi["http_version"].startswith("1") else []
        await refuse(request.transmit, self._stopping, [*closing, *request.cors])

    def _judge(self, asgi: AsgiScope, headers: dict[bytes, bytes]) -> Admission | Refusal | None:
        """The verdict on a request's path and head; none when the path is not this endpoint's."""
        if asgi["path"] != self.policy.path and not self._is_here(asgi):
            return None
        if len(headers) != len(asgi["headers"]):
            refusal = merge_headers(asgi["headers"], headers)
            if refusal is not None:
                return refusal
        get = headers.get
        head = (
            asgi["method"],
            get(b"host"),
            get(b"origin"),
            get(b"content-type"),
            get(b"accept"),
            get(b"mcp-protocol-version"),
        )
        try:
            return self._head_policy.judge(head)
        except HeadTooLarge as error:
            return error.refusal

    async def _reject(self, refusal: Refusal | None, scope: AsgiScope, send: Transmit) -> None:
        if refusal is None and path_here(scope).rstrip("/") in self.policy.open_paths:
            return await self._operations.serve(scope, send)
        if refusal is None:
            return await respond(send, 404, [])
        return await refuse(send, refusal, [])

    async def _not_http(self, asgi: AsgiScope, receive: Receive, send: Transmit) -> None:
        if asgi["type"] == "lifespan":
            return await self._lifespan(receive, send)
        return await self._websockets.serve(asgi, receive, send)

    def _is_socket_here(self, asgi: AsgiScope) -> bool:
        path = asgi["path"].rstrip("/").removesuffix("/ws")
        return self.policy.websocket and (path == self.policy.path or self._is_here({**asgi, "path": path}))

    def _is_here(self, asgi: AsgiScope) -> bool:
        path: str = asgi["path"]
        if self.policy.path is None:
            return True
        mounted_at = asgi.get("root_path", "")
        return path.removeprefix(mounted_at).rstrip("/") in (
            (self.policy.path, "") if mounted_at else (self.policy.path,)
        )

    async def _post(self, request: HttpRequest, body: bytes | None = None) -> None:
        endpoint = self._endpoint
        # The fast path. Most requests are a single message whose body has arrived, served without a session
        # and answered with one JSON object: they are handled in this function, with as few calls as possible.
        whole_send = request.whole_send
        if body is None:
            part = body_or_first_part(whole_send, request.receive, request.headers, self._taken_at_once)
            if not isinstance(part, bytes):
                return await self._post_large(part, request)
            body = part
        try:
            payload = decode(body, endpoint.limits)
        except MalformedMessage as error:
            return await refuse(request.transmit, _malformed(error), request.cors)
        target = route(payload, request.admission, request.headers, self.policy.sessions)
        if type(target) is not Sessionless or type(payload) is not Envelope:
            return await self._post_slow_path(payload, target, request)
        try:
            send = request.send if self.policy.streaming else None
            outcome = await endpoint.dispatch(payload, send, request.scope(target))
        except RpcError as error:
            return await refuse(request.transmit, _unacceptable(error), request.cors)
        if type(outcome) is Reply and request.is_plain:
            headers = (JSON, *request.admission.cors)
            if whole_send is not None:
                return whole_send.respond(200, headers, encode_outcome(outcome))
            return await respond(request.transmit, 200, headers, encode_outcome(outcome))
        return await _answer(payload, outcome, request.exchange, target.revision)

    async def _post_large(self, part: Message | Awaitable[Message], request: HttpRequest) -> None:
        """Read the body from its first part on, and serve it. Its bytes count until it has been answered."""
        length = request.headers.get(b"content-length", b"")
        client = request.scope().client_key
        share = self._endpoint.byte_budget.share(client)
        try:
            reading = read_body(part, request.receive, length, self._endpoint.limits, share)
            body = await self._pace.read(reading, length, lambda: client)
            if isinstance(body, Refusal):
                return await refuse(request.transmit, body, request.cors)
            if self._stopping is not None:
                return await self._refuse_while_stopping(request)
            return await self._post(request, body)
        except IncompleteBody:
            return None
        finally:
            share.release()

    async def _post_slow_path(self, payload: Payload, target: Route, request: HttpRequest) -> None:
        if isinstance(target, Refusal):
            return await refuse(request.transmit, target, request.cors)
        if isinstance(target, InSession):
            return await self._post_in_session(payload, request, target.session_id)
        if isinstance(payload, list):
            assert isinstance(target, Sessionless)
            return await self._serve_batch(payload, request, request.scope(target), target.revision)
        return await self._open(payload, request)

    async def _open(self, message: Envelope, request: HttpRequest) -> None:
        """Serve an `initialize`. The session is stored only once that has succeeded."""
        scope = request.scope()
        await self._sessions.ready()
        live = self._sessions.open(scope)
        exchange = request.exchange
        try:
            outcome = await self._endpoint.dispatch(message, None, scope)
        except RpcError as error:
            self._sessions.drop(live)
            return await refuse(request.transmit, _unacceptable(error), request.cors)
        if not isinstance(outcome, Reply):
            self._sessions.drop(live)
        else:
            try:
                has_room = await self._sessions.keep(live, scope)
            except StoreAway as error:
                self._sessions.drop(live)
                return await refuse(request.transmit, store_away(error, message), request.cors)
            if not has_room:
                return await refuse(request.transmit, sessions_full(message), request.cors)
            exchange.headers.append((b"mcp-session-id", live.id.encode()))
        return await exchange.answer(outcome, live.session.peer.revision)

    async def _post_in_session(self, payload: Payload, request: HttpRequest, session_id: str) -> None:
        scope = request.scope()
        try:
            live = await self._sessions.find(session_id, scope)
        except StoreAway as error:
            return await refuse(request.transmit, store_away(error, payload), request.cors)
        if live is None:
            return await refuse(request.transmit, session_gone(payload), request.cors)
        problem = version_problem(request.admission, live.session.peer.revision, payload)
        if problem is not None:
            return await refuse(request.transmit, problem, request.cors)
        with self._sessions.in_use(live):
            return await self._serve_in_session(payload, request, scope, live)

    async def _serve_in_session(
        self, payload: Payload, request: HttpRequest, scope: Scope, live: HttpSession
    ) -> None:
        scope.session = live.session
        exchange = request.exchange
        exchange.bind_session(live, payload)
        scope.detach = exchange.detach
        revision = live.session.peer.revision
        if isinstance(payload, list):
            return await self._serve_batch(payload, request, scope, revision, live)
        try:
            outcome = await self._endpoint.dispatch(payload, exchange.send, scope)
        except RpcError as error:
            return await refuse(request.transmit, _unacceptable(error), request.cors)
        # Before the answer: what it acknowledges must not get lost.
        away = await self._save(live)
        if away is not None:
            if outcome is None:
                return await refuse(request.transmit, store_away(away, payload), request.cors)
            outcome = error_reply(away, known_id(payload))
        return await _answer(payload, outcome, exchange, revision)

    async def _save(self, live: HttpSession) -> StoreAway | None:
        try:
            await self._sessions.update(live)
        except StoreAway as error:
            return error
        return None

    async def _serve_batch(
        self,
        members: list[Envelope | MalformedMessage],
        request: HttpRequest,
        scope: Scope,
        revision: Revision,
        live: HttpSession | None = None,
    ) -> None:
        if revision.batching is Batching.REFUSED:
            return await refuse(request.transmit, batch_refused(), request.cors)
        exchange = request.exchange
        send = exchange.send if self.policy.streaming else None
        try:
            outcomes = await self._endpoint.dispatch_batch(members, send, scope)
        except RpcError as error:
            return await refuse(request.transmit, _unacceptable(error), request.cors)
        away = None if live is None else await self._save(live)
        if away is not None:
            if not outcomes:
                return await refuse(request.transmit, store_away(away, members), request.cors)
            outcomes = [error_reply(away, None if each.id is UNSET else each.id) for each in outcomes]
        if not outcomes:
            return await exchange.accept()
        return await exchange.answer_batch(outcomes)

    async def _get(self, request: HttpRequest) -> None:
        try:
            live = await self._session_of(request)
            if isinstance(live, Refusal):
                return await refuse(request.transmit, live, request.cors)
            position = await find_position(live, request.headers.get(b"last-event-id"))
            if isinstance(position, Refusal):
                return await refuse(request.transmit, position, request.cors)
            await self._sessions.listen(live)
        except StoreAway as error:
            return await refuse(request.transmit, store_away(error), request.cors)
        follower = Follower(
            live, position, request.transmit, self._settings.timing.heartbeat, self._sessions.touch
        )
        with self._sessions.in_use(live):
            return await follower.run(request.end, request.cors)

    async def _delete(self, request: HttpRequest) -> None:
        try:
            live = await self._session_of(request)
            if isinstance(live, Refusal):
                return await refuse(request.transmit, live, request.cors)
            await self._sessions.end(live)
        except StoreAway as error:
            return await refuse(request.transmit, store_away(error), request.cors)
        return await respond(request.transmit, 204, request.cors)

    async def _session_of(self, request: HttpRequest) -> HttpSession | Refusal:
        """The session of a GET or DELETE."""
        session_id = request.headers.get(b"mcp-session-id")
        if request.admission.unknown_version is not None:
            return Refusal(400, f"unsupported protocol version: {request.admission.unknown_version}")
        if self.policy.sessions is Sessions.OFF or (
            session_id is None and self.policy.sessions is Sessions.OPTIONAL
        ):
            return Refusal(
                405, "method not allowed without a session: use POST", ((b"allow", b"POST, OPTIONS"),)
            )
        if session_id is None:
            return Refusal(400, "session required: send its Mcp-Session-Id")
        live = await self._sessions.find(session_id.decode("latin-1"), request.scope())
        if live is None:
            return Refusal(404, "session not found: it ended or expired; send initialize again")
        return version_problem(request.admission, live.session.peer.revision) or live

    async def _options(self, request: HttpRequest) -> None:
        await respond(request.transmit, 204, self._head_policy.preflight(request.headers))

    async def _lifespan(self, receive: Receive, send: Transmit) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                await self.close()
                return await send({"type": "lifespan.shutdown.complete"})
            try:
                await self.start()
            except (LifespanFailed, RuntimeError) as error:
                return await send({"type": "lifespan.startup.failed", "message": str(error)})
            await send({"type": "lifespan.startup.complete"})


def _answer(
    payload: Envelope, outcome: Outcome | None, exchange: Exchange, revision: Revision
) -> Awaitable[None]:
    if outcome is None and (known_id(payload) is None or not isinstance(payload.method, str)):
        return exchange.accept()
    return exchange.answer(outcome, revision)


def _malformed(error: MalformedMessage) -> Refusal:
    status: int = ASSUMED.http.statuses.get(error.code, 400)
    return Refusal(status, error.message, code=error.code, request_id=error.request_id)


def _unacceptable(error: RpcError) -> Refusal:
    return Refusal(400, error.message, code=error.code)
