"""One message in, one answer or none out, whatever carried it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Struct

from assay.model.error import INVALID_REQUEST, MalformedMessage, RpcError
from assay.model.jsonrpc import Envelope, Outcome, Reply, RequestId
from assay.model.result import Cache
from assay.protocol.codec import decode_params, error_reply, known_id
from assay.protocol.declaration import cached_peer, declared_peer, describes_itself, read_declaration
from assay.protocol.lifecycle import State, input_of
from assay.protocol.scope import Scope, Send
from assay.protocol.session import STATELESS, Peer, Session
from assay.revisions.registry import BY_DATE, DATES, HANDSHAKE, SELF_DESCRIBING
from assay.revisions.revision import Batching, Results

from .call import Call
from .failure import to_rpc_error
from .method_table import unknown
from .round_trip import find_input_needed

if TYPE_CHECKING:
    from .server import Server


class _CancelParams(Struct, rename="camel"):
    request_id: RequestId
    reason: str | None = None


_cancel_params = msgspec.json.Decoder(_CancelParams).decode


async def dispatch(server: Server, message: Envelope, send: Send | None, scope: Scope) -> Outcome | None:
    """Serve one message.

    Raises:
        RpcError: a notification or response that cannot be accepted. Requests never raise: they are answered.
    """
    method = message.method
    if method is UNSET or message.id is UNSET:
        receive(message, scope.session)
        return None
    try:
        call = Call(server, message, scope.peer or peer_of(message, scope), scope, send)
    except RpcError as error:
        return error_reply(error, message.id)
    try:
        if scope.session is not None:
            _admit(scope.session, message, method, call.peer)
        revision = call.peer.revision
        serve = (server.tables.get(revision) or server.methods(revision)).get(method)
        if serve is None:
            serve = unknown(method, server.layers)
        result = await serve(call)
    except (Exception, SystemExit) as error:  # a handler that calls sys.exit ends itself, not the server
        failure = to_rpc_error(error, call, method)
        return None if failure is None else error_reply(failure, call.id)
    except BaseException as error:
        questions = find_input_needed(error)
        if questions is None:
            raise
        return Reply(call.id, server.writer.input_required(questions.result))
    finally:
        call.over = True
    if revision.results is Results.TYPED:
        cache = cache_of(call) if method in revision.cacheable else None
        result = server.writer.complete(result, cache)
    return Reply(call.id, result)


def cache_of(call: Call) -> Cache:
    """How the result of a call may be cached: what depends on the caller is for the caller alone."""
    cache = call.cache or call.server.cache
    return msgspec.structs.replace(cache, cache_scope="private") if call.private else cache


async def dispatch_batch(
    server: Server, members: list[Envelope | MalformedMessage], send: Send | None, scope: Scope
) -> list[Outcome]:
    """Serve the members of a batch at once; only requests are answered.

    Raises:
        RpcError: the client's revision has no batches.
    """
    # Before a handshake a session only assumes a revision; a member that names its own knows better.
    described = any(isinstance(member, Envelope) and describes_itself(member) for member in members)
    if described or peer_of(None, scope).revision.batching is Batching.REFUSED:
        raise RpcError(INVALID_REQUEST, "batches are not part of this protocol revision")
    if server.strictness.single:
        raise RpcError(INVALID_REQUEST, "this server takes no batches")
    async with asyncio.TaskGroup() as tasks:
        served = [tasks.create_task(_serve_member(server, member, send, scope)) for member in members]
    outcomes = [task.result() for task in served]
    return [outcome for outcome in outcomes if outcome is not None]


async def _serve_member(
    server: Server, member: Envelope | MalformedMessage, send: Send | None, scope: Scope
) -> Outcome | None:
    if isinstance(member, MalformedMessage):
        return error_reply(member, member.request_id)
    if member.method == "initialize":
        return error_reply(
            RpcError(INVALID_REQUEST, "initialize must not be part of a batch"), known_id(member)
        )
    try:
        return await dispatch(server, member, send, scope)
    except RpcError:
        return None  # nobody can be told: the member was a notification or a response


def peer_of(message: Envelope | None, scope: Scope) -> Peer:
    """The client as this message sees it: as it says itself, as its session knows, or as its scope has it.

    Raises:
        RpcError: it describes itself badly, or names a revision that is not served.
    """
    if scope.peer is not None:
        peer: Peer = scope.peer
        return peer
    if message is not None and (message.decoded_params is not UNSET or message.method in SELF_DESCRIBING):
        described = cached_peer(message)
        if described is not None:
            return described
        if describes_itself(message):
            return declared_peer(read_declaration(message))
    if scope.session is not None:
        session: Session = scope.session
        return session.peer
    revision = scope.revision or HANDSHAKE[-1]
    if isinstance(revision, str):
        if revision not in BY_DATE:
            raise RpcError(INVALID_REQUEST, f"unsupported protocol version: {revision}", {"supported": DATES})
        revision = BY_DATE[revision]
    return STATELESS[revision]


def _admit(session: Session, message: Envelope, method: str, peer: Peer) -> None:
    if message.id in session.in_flight:
        raise RpcError(INVALID_REQUEST, f"id is already in use by a request in progress: {message.id!r}")
    # `initialize` advances the session itself, once its parameters are known to be good; a request that
    # describes itself asks nothing of the session.
    if session.state is not State.READY and method != "initialize" and peer is session.peer:
        session.receive(input_of(method, is_request=True))


def receive(message: Envelope, session: Session | None) -> None:
    """Take a notification or a response.

    Raises:
        RpcError: it cannot be accepted.
    """
    method = message.method
    if method is UNSET:
        if session is None or not session.outgoing_requests.settle(message):
            raise RpcError(INVALID_REQUEST, "response to a request that was never sent")
    elif session is not None:
        session.receive(input_of(method, is_request=False))
        if method == "notifications/cancelled":
            _cancel(message, session)


def _cancel(message: Envelope, session: Session) -> None:
    try:
        params = decode_params(message.params, _cancel_params)
    except RpcError:
        return  # malformed, unknown and late cancellations are ignored (basic/utilities/cancellation)
    running = session.in_flight.get(params.request_id)
    if running is not None:
        running.cancel(params.reason)
