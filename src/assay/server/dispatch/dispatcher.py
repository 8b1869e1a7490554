"""Dispatch: one message in, at most one answer out, whatever transport carried them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import UNSET

from assay.model.error import INTERNAL_ERROR, INVALID_REQUEST, MalformedMessage, RpcError
from assay.model.jsonrpc import Envelope, Outcome, Reply
from assay.protocol.cancellation import read_cancellation
from assay.protocol.codec import error_reply, known_id
from assay.protocol.declaration import cached_peer, declared_peer, describes_itself, read_declaration
from assay.protocol.lifecycle import State, input_of
from assay.protocol.middleware import Ending
from assay.protocol.scope import Scope, Send
from assay.protocol.session import STATELESS, Peer, Session
from assay.revisions.registry import SELF_DESCRIBING
from assay.revisions.revision import Batching, Results
from assay.revisions.served import Served
from assay.server.calls.call import Call
from assay.server.calls.round_trip import find_input_needed
from assay.server.results.typed_result import ResultWriter

from .failure import to_rpc_error
from .method_table import MethodTables
from .notification import Notifications
from .services import Services


class Dispatcher:
    """Serves the decoded messages of one server."""

    __slots__ = ("_accepts_batches", "_notifications", "_services", "_tables", "_writer")

    def __init__(
        self,
        services: Services,
        tables: MethodTables,
        notifications: Notifications,
        writer: ResultWriter,
        accepts_batches: Callable[[], bool],
    ) -> None:
        self._services = services
        self._tables = tables
        self._notifications = notifications
        self._writer = writer
        self._accepts_batches = accepts_batches

    async def dispatch(self, message: Envelope, send: Send | None, scope: Scope) -> Outcome | None:
        """Serve one message.

        Raises:
            RpcError: a notification or response cannot be accepted. Requests never raise: they are answered.
        """
        method = message.method
        if method is UNSET or message.id is UNSET:
            receive(message, scope.session)
            if method in self._notifications.by_method:
                self._observe(message, scope)
            return None
        try:
            call = Call(
                self._services,
                message,
                scope.peer or peer_of(message, scope, self._tables.served),
                scope,
                send,
            )
        except RpcError as error:
            return error_reply(error, message.id)
        try:
            if scope.session is not None:
                _admit(scope.session, message, method, call.peer)
            revision = call.peer.revision
            serve = self._tables[revision].get(method)
            if serve is None:
                serve = self._tables.unknown(method)
            result = await serve(call)
            if call.kept_state is not None:
                await call.kept_state.save()
        except BaseException as error:
            # All of them: `sys.exit` in a handler must not stop the server, and a request whose handler has
            # awaited a cancelled task is answered like any other.
            if not isinstance(error, Exception) and call.ending_of(error) is Ending.CANCELLED:
                raise
            return self._failure(error, call, method)
        finally:
            call.finished = True
        if revision.results is Results.TYPED:
            cache = call.cache_hint if method in revision.cacheable else None
            result = self._writer.complete(result, cache)
        return Reply(call.id, result)

    def _observe(self, message: Envelope, scope: Scope) -> None:
        try:
            peer = peer_of(message, scope, self._tables.served)
        except RpcError:
            return  # it describes its client wrongly; what nothing observes is not refused either
        self._notifications.begin(message, peer, scope, self._services)

    def _failure(self, error: BaseException, call: Call, method: str) -> Outcome | None:
        needed = find_input_needed(error)
        if needed is not None:
            return Reply(call.id, self._writer.input_required(needed.result))
        failure = to_rpc_error(error, call, method)
        return None if failure is None else error_reply(failure, call.id)

    async def dispatch_batch(
        self, members: list[Envelope | MalformedMessage], send: Send | None, scope: Scope
    ) -> list[Outcome]:
        """Serve the members of a batch concurrently; only requests are answered.

        Raises:
            RpcError: the client's revision, or this server, does not accept batches.
        """
        # Before a handshake the session only assumes a revision; a member that names one overrides it.
        described = any(isinstance(member, Envelope) and describes_itself(member) for member in members)
        if described or peer_of(None, scope, self._tables.served).revision.batching is Batching.REFUSED:
            raise RpcError(INVALID_REQUEST, "batches are not part of this protocol revision")
        if not self._accepts_batches():
            raise RpcError(INVALID_REQUEST, "this server does not accept batches")
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._serve_member(member, send, scope)) for member in members]
        outcomes = map(_outcome_of_member, members, tasks)
        return [outcome for outcome in outcomes if outcome is not None]

    async def _serve_member(
        self, member: Envelope | MalformedMessage, send: Send | None, scope: Scope
    ) -> Outcome | None:
        if isinstance(member, MalformedMessage):
            return error_reply(member, member.request_id)
        if member.method == "initialize":
            return error_reply(
                RpcError(INVALID_REQUEST, "initialize must not be part of a batch"), known_id(member)
            )
        try:
            return await self.dispatch(member, send, scope)
        except RpcError:
            return None  # a notification or response has no answer


def _outcome_of_member(
    member: Envelope | MalformedMessage, task: asyncio.Task[Outcome | None]
) -> Outcome | None:
    """The outcome of a member of a batch. One whose handler cancelled its own task must not take the answers
    to the other members with it."""
    if not task.cancelled():
        return task.result()
    request_id = None if isinstance(member, MalformedMessage) else known_id(member)
    return error_reply(RpcError(INTERNAL_ERROR, "internal error"), request_id)


def peer_of(message: Envelope | None, scope: Scope, served: Served) -> Peer:
    """The client of a message: as the message declares it, as its session knows it, or as its scope says.

    Raises:
        RpcError: the declaration is invalid, or names a revision that is not served.
    """
    if scope.peer is not None:
        return scope.peer
    if message is not None and (message.decoded_params is not UNSET or message.method in SELF_DESCRIBING):
        peer = cached_peer(message)
        if peer is not None:
            return peer
        if describes_itself(message):
            return declared_peer(read_declaration(message, served), served)
    if scope.session is not None:
        return scope.session.peer
    revision = scope.revision or served.default
    if isinstance(revision, str):
        if revision not in served.by_date:
            problem = f"unsupported protocol version: {revision}"
            raise RpcError(INVALID_REQUEST, problem, {"supported": served.dates})
        revision = served.by_date[revision]
    return STATELESS[revision]


def _admit(session: Session, message: Envelope, method: str, peer: Peer) -> None:
    if message.id in session.in_flight:
        raise RpcError(INVALID_REQUEST, f"id is already in use by a request in progress: {message.id!r}")
    if session.used_ids is not None and peer is session.peer:
        session.used_ids.use(message.id, session.reserve)  # type: ignore[arg-type]
    # `initialize` advances the session itself, once its parameters are valid. A request that declares its own
    # client does not depend on the session's state.
    if session.state is not State.READY and method != "initialize" and peer is session.peer:
        session.receive(input_of(method, is_request=True))


def receive(message: Envelope, session: Session | None) -> None:
    """Handle a notification or a response.

    Raises:
        RpcError: it cannot be accepted.
    """
    method = message.method
    if method is UNSET:
        if session is None or not (
            session.outgoing_requests.settle(message)
            or (session.relay is not None and session.relay(message))
        ):
            raise RpcError(INVALID_REQUEST, "response to a request that was never sent")
    elif session is not None:
        session.receive(input_of(method, is_request=False))
        if method == "notifications/cancelled":
            _cancel(message, session)


def _cancel(message: Envelope, session: Session) -> None:
    cancellation = read_cancellation(message)
    if cancellation is None:
        return
    running = session.in_flight.get(cancellation.request_id)
    if running is not None:
        running.cancel(cancellation.reason)
    elif session.relay is not None:
        session.relay(message)
