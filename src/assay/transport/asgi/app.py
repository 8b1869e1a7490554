"""The ASGI application: takes a request apart, asks the rules where it goes, and sends it there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import time

from assay.model.error import MalformedMessage, RpcError
from assay.model.jsonrpc import Envelope, Outcome, Reply
from assay.model.scope import Scope
from assay.protocol.codec import decode, encode_outcome, known_id
from assay.protocol.http.asgi import AsgiScope, Message, Receive, Transmit
from assay.protocol.http.gate import JSON, Admission, Gate, Headers, HeadTooLarge, Refusal, merge_headers
from assay.protocol.http.policy import HttpPolicy, Sessions
from assay.protocol.http.route import (
    Alone,
    InSession,
    Posted,
    Route,
    batch_refused,
    route,
    session_gone,
    version_problem,
)
from assay.revisions.registry import ASSUMED
from assay.revisions.revision import Batching, Revision
from assay.transport.port import Endpoint

from .body import ClientGone, at_hand, read_body
from .certified import scope_of_certificate
from .challenge import KEY as CHALLENGE
from .exchange import Exchange, Pace, refuse, respond
from .follow import Follower, locate
from .sessions import HttpSession, HttpSessions
from .websocket import WebSockets


class Incoming:
    """One HTTP request: what ASGI gave us, its headers, and the verdict on them."""

    _exchange: Exchange | None = None

    def __init__(
        self,
        asgi: AsgiScope,
        headers: dict[bytes, bytes],
        admission: Admission,
        receive: Receive,
        transmit: Transmit,
        pace: Pace,
    ) -> None:
        self.asgi = asgi
        self.headers = headers
        self.admission = admission
        self.receive = receive
        self.transmit = transmit
        self.pace = pace

    @property
    def exchange(self) -> Exchange:
        """The answering side, made when something has to be said that is not one plain answer."""
        if self._exchange is None:
            challenge = self.asgi.get(CHALLENGE)
            self._exchange = Exchange(self.transmit, self.admission, self.pace, challenge)
        return self._exchange

    @property
    def is_plain(self) -> bool:
        """Whether the answer is all that will be said, as one JSON object."""
        return self._exchange is None and not self.admission.prefers_stream

    async def send(self, data: bytes) -> None:
        await self.exchange.send(data)

    @property
    def cors(self) -> Headers:
        return list(self.admission.cors)

    async def departure(self) -> None:
        """Return when the client has hung up."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def end(self) -> None:
        """Return when the client has hung up, or may no longer be here."""
        given: Scope | None = self.asgi.get("assay")
        left = None if given is None or given.expires is None else given.expires - time()
        try:
            async with asyncio.timeout(left):
                await self.departure()
        except TimeoutError:
            pass

    def scope(self, where: Alone | None = None) -> Scope:
        """What the handlers will see of this request; the host may have put a scope of its own here."""
        given: Scope | None = self.asgi.get("assay")
        if given is None and "extensions" in self.asgi:
            given = scope_of_certificate(self.asgi["extensions"])
        if where is None:
            scope = Scope(transport="http", raw_headers=self.asgi["headers"])
        else:
            leaves = self.departure if where.revision.http.disconnect_cancels else None
            scope = Scope(
                transport="http",
                raw_headers=self.asgi["headers"],
                revision=where.revision,
                peer=where.peer,
                mirrors=where.mirrors,
                departure=leaves,
            )
        if given is not None:
            scope.principal, scope.scopes, scope.state = given.principal, given.scopes, given.state
            scope.expires = given.expires
        return scope


class AsgiApp:
    """Made by `Server.asgi`. A host that knows who is asking puts a `Scope` under `"assay"` into the
    ASGI scope before it calls this application."""

    def __init__(
        self,
        endpoint: Endpoint,
        policy: HttpPolicy,
        sessions: HttpSessions,
        *,
        heartbeat: float,
        retry: float,
    ) -> None:
        self.policy = policy
        self._endpoint = endpoint
        self._sessions = sessions
        self._gate = Gate(policy)
        self._pace = Pace(heartbeat, retry)
        self._sockets = WebSockets(endpoint, self._gate, self._is_socket_here)
        self._methods: dict[str, Callable[[Incoming], Awaitable[None]]] = {
            "POST": self._post,
            "GET": self._get,
            "DELETE": self._delete,
            "OPTIONS": self._options,
        }

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Transmit) -> None:
        if scope["type"] != "http":
            return await self._not_http(scope, receive, send)
        headers = dict(scope["headers"])
        verdict = self._judge(scope, headers)
        if not isinstance(verdict, Admission):
            return await self._turn_away(verdict, send)
        incoming = Incoming(scope, headers, verdict, receive, send, self._pace)
        return await self._methods[scope["method"]](incoming)

    def start(self) -> None:
        """Begin what goes on beside the requests, before the first of them."""
        self._endpoint.start()

    async def close(self) -> None:
        """End all sessions and streams, so that the HTTP server can stop."""
        self._endpoint.end_listening()
        await self._sockets.close()
        await self._sessions.close()
        await self._endpoint.stop()

    def _judge(self, asgi: AsgiScope, headers: dict[bytes, bytes]) -> Admission | Refusal | None:
        """The verdict on a request's path and head; none when it is not for this endpoint."""
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
            return self._gate.judge(head)
        except HeadTooLarge as error:
            return error.refusal

    async def _turn_away(self, refusal: Refusal | None, send: Transmit) -> None:
        if refusal is None:
            return await respond(send, 404, [])
        return await refuse(send, refusal, [])

    async def _not_http(self, asgi: AsgiScope, receive: Receive, send: Transmit) -> None:
        if asgi["type"] == "lifespan":
            return await self._lifespan(receive, send)
        return await self._sockets.serve(asgi, receive, send)

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

    async def _post(self, incoming: Incoming) -> None:
        endpoint = self._endpoint
        # The way of most requests is in this function alone, without a call more than it needs.
        part = at_hand(incoming.transmit, incoming.receive, incoming.headers, endpoint.limits)
        body = part if isinstance(part, bytes) else await self._read(part, incoming)
        if type(body) is not bytes:
            return None
        try:
            posted = decode(body, endpoint.limits)
        except MalformedMessage as error:
            return await refuse(incoming.transmit, _malformed(error), incoming.cors)
        where = route(posted, incoming.admission, incoming.headers, self.policy.sessions)
        if type(where) is not Alone or type(posted) is not Envelope:
            return await self._post_otherwise(posted, where, incoming)
        try:
            send = incoming.send if self.policy.streaming else None
            outcome = await endpoint.dispatch(posted, send, incoming.scope(where))
        except RpcError as error:
            return await refuse(incoming.transmit, _unacceptable(error), incoming.cors)
        if type(outcome) is Reply and incoming.is_plain:
            headers = (JSON, *incoming.admission.cors)
            return await respond(incoming.transmit, 200, headers, encode_outcome(outcome))
        return await _answer(posted, outcome, incoming.exchange, where.revision)

    async def _read(self, part: Message | Awaitable[Message], incoming: Incoming) -> bytes | None:
        """The body, from its first part on; none when the request has ended with it."""
        length = incoming.headers.get(b"content-length", b"")
        try:
            body = await read_body(part, incoming.receive, length, self._endpoint.limits)
        except ClientGone:
            return None
        if not isinstance(body, Refusal):
            return body
        await refuse(incoming.transmit, body, incoming.cors)
        return None

    async def _post_otherwise(self, posted: Posted, where: Route, incoming: Incoming) -> None:
        if isinstance(where, Refusal):
            return await refuse(incoming.transmit, where, incoming.cors)
        if isinstance(where, InSession):
            return await self._post_in_session(posted, incoming, where.session_id)
        if isinstance(posted, list):
            assert isinstance(where, Alone)
            return await self._serve_batch(posted, incoming, incoming.scope(where), where.revision)
        return await self._open(posted, incoming)

    async def _open(self, message: Envelope, incoming: Incoming) -> None:
        """Serve an `initialize`; the session exists for others only once it has succeeded."""
        scope = incoming.scope()
        live = self._sessions.open(scope.principal)
        scope.session = live.session
        exchange = incoming.exchange
        try:
            outcome = await self._endpoint.dispatch(message, None, scope)
        except RpcError as error:
            self._sessions.drop(live)
            return await refuse(incoming.transmit, _unacceptable(error), incoming.cors)
        if isinstance(outcome, Reply):
            await self._sessions.keep(live)
            exchange.headers.append((b"mcp-session-id", live.id.encode()))
        else:
            self._sessions.drop(live)
        return await exchange.answer(outcome, live.session.peer.revision)

    async def _post_in_session(self, posted: Posted, incoming: Incoming, session_id: str) -> None:
        scope = incoming.scope()
        live = await self._sessions.find(session_id, scope.principal)
        if live is None:
            return await refuse(incoming.transmit, session_gone(posted), incoming.cors)
        problem = version_problem(incoming.admission, live.session.peer.revision, posted)
        if problem is not None:
            return await refuse(incoming.transmit, problem, incoming.cors)
        scope.session = live.session
        exchange = incoming.exchange
        exchange.belong_to(live)
        scope.detach = exchange.detach
        revision = live.session.peer.revision
        if isinstance(posted, list):
            await self._serve_batch(posted, incoming, scope, revision)
            return await self._sessions.update(live)
        try:
            outcome = await self._endpoint.dispatch(posted, exchange.send, scope)
        except RpcError as error:
            return await refuse(incoming.transmit, _unacceptable(error), incoming.cors)
        await _answer(posted, outcome, exchange, revision)
        return await self._sessions.update(live)

    async def _serve_batch(
        self,
        members: list[Envelope | MalformedMessage],
        incoming: Incoming,
        scope: Scope,
        revision: Revision,
    ) -> None:
        if revision.batching is Batching.REFUSED:
            return await refuse(incoming.transmit, batch_refused(), incoming.cors)
        exchange = incoming.exchange
        send = exchange.send if self.policy.streaming else None
        try:
            outcomes = await self._endpoint.dispatch_batch(members, send, scope)
        except RpcError as error:
            return await refuse(incoming.transmit, _unacceptable(error), incoming.cors)
        if not outcomes:
            return await exchange.accept()
        return await exchange.answer_batch(outcomes)

    async def _get(self, incoming: Incoming) -> None:
        live = await self._session_of(incoming)
        if isinstance(live, Refusal):
            return await refuse(incoming.transmit, live, incoming.cors)
        position = await locate(live, incoming.headers.get(b"last-event-id"))
        if isinstance(position, Refusal):
            return await refuse(incoming.transmit, position, incoming.cors)
        follower = Follower(live, position, incoming.transmit, self._pace.heartbeat, self._sessions.touch)
        return await follower.run(incoming.end, incoming.cors)

    async def _delete(self, incoming: Incoming) -> None:
        live = await self._session_of(incoming)
        if isinstance(live, Refusal):
            return await refuse(incoming.transmit, live, incoming.cors)
        await self._sessions.end(live)
        return await respond(incoming.transmit, 204, incoming.cors)

    async def _session_of(self, incoming: Incoming) -> HttpSession | Refusal:
        """The session that a GET or DELETE speaks of."""
        session_id = incoming.headers.get(b"mcp-session-id")
        if incoming.admission.unknown_version is not None:
            return Refusal(400, f"unsupported protocol version: {incoming.admission.unknown_version}")
        if self.policy.sessions is Sessions.OFF or (
            session_id is None and self.policy.sessions is Sessions.OPTIONAL
        ):
            return Refusal(405, "without a session only POST is offered", ((b"allow", b"POST, OPTIONS"),))
        if session_id is None:
            return Refusal(400, "session required: send its Mcp-Session-Id")
        live = await self._sessions.find(session_id.decode("latin-1"), incoming.scope().principal)
        if live is None:
            return Refusal(404, "session not found: it ended or expired; send initialize again")
        return version_problem(incoming.admission, live.session.peer.revision) or live

    async def _options(self, incoming: Incoming) -> None:
        await respond(incoming.transmit, 204, self._gate.preflight(incoming.headers))

    async def _lifespan(self, receive: Receive, send: Transmit) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.start()
            if message["type"] == "lifespan.shutdown":
                await self.close()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return


def _answer(
    posted: Envelope, outcome: Outcome | None, exchange: Exchange, revision: Revision
) -> Awaitable[None]:
    if outcome is None and (known_id(posted) is None or not isinstance(posted.method, str)):
        return exchange.accept()
    return exchange.answer(outcome, revision)


def _malformed(error: MalformedMessage) -> Refusal:
    status: int = ASSUMED.http.statuses.get(error.code, 400)
    return Refusal(status, error.message, code=error.code, request_id=error.request_id)


def _unacceptable(error: RpcError) -> Refusal:
    return Refusal(400, error.message, code=error.code)
