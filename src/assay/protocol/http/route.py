"""The route of a POST, once its body is decoded: a session, a single request, or a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET, Struct

from assay.model.error import INVALID_REQUEST, MalformedMessage, RpcError, StoreAway
from assay.model.jsonrpc import Envelope, RequestId
from assay.protocol.codec import known_id
from assay.protocol.declaration import (
    cached_peer,
    declared_peer,
    describes_itself,
    read_declaration,
    unsupported,
)
from assay.protocol.session import STATELESS, Peer
from assay.revisions.registry import ASSUMED, BY_DATE, PER_REQUEST, REVISIONS
from assay.revisions.revision import Batching, Opening, Revision
from assay.revisions.served import Served

from .busy import UNAVAILABLE, retry_after, unavailable
from .head_policy import Admission, Refusal
from .mirror import check_mirrors
from .policy import Sessions

FULL_FOR: Final = 10
"""Seconds after which a client that got no session may try again."""

Payload = Envelope | list[Envelope | MalformedMessage]


class OpenSession(Struct, frozen=True):
    """An `initialize` that opens a session."""


class InSession(Struct, frozen=True):
    """A message of a session; `session_id` is not looked up yet."""

    session_id: str


class Sessionless(Struct, frozen=True):
    """A message without a session: from a client that it describes, or an unknown one."""

    revision: Revision
    peer: Peer
    mirrors: Mapping[bytes, bytes] | None = None
    """Headers still to be compared with the name in the parameters."""


SESSIONLESS = {revision: Sessionless(revision, STATELESS[revision]) for revision in REVISIONS}
OPEN_SESSION = OpenSession()

Route = OpenSession | InSession | Sessionless | Refusal


def route(
    payload: Payload, admission: Admission, headers: Mapping[bytes, bytes], sessions: Sessions
) -> Route:
    if isinstance(payload, list):
        return _route_batch(payload, admission, headers, sessions)
    if payload.decoded_params is not UNSET and payload.id is not UNSET:
        peer = cached_peer(payload)
        if peer is not None:
            return _route_described(payload, peer, headers)
    # Without an id it is a notification, which opens no session.
    opening = payload.method == "initialize" and payload.id is not UNSET
    if _is_per_request(payload, admission, opening=opening):
        return _route_per_request(payload, admission, headers)
    if admission.revision is None and admission.strictness.version_header and not opening:
        return _version_required(payload)
    session = headers.get(b"mcp-session-id")
    if session is not None and sessions is not Sessions.OFF:
        return InSession(session.decode("latin-1"))
    if opening:
        return OPEN_SESSION if sessions is not Sessions.OFF else SESSIONLESS[ASSUMED]
    if sessions is Sessions.REQUIRED:
        return _session_required(payload)
    return SESSIONLESS[admission.revision or ASSUMED]


def _is_per_request(message: Envelope, admission: Admission, *, opening: bool) -> bool:
    if describes_itself(message):
        return True
    # Without a declaration, a header of a newer or unknown revision means a malformed request, unless it is
    # an `initialize`: clients that support both kinds of revision fall back to that.
    unknown = admission.unknown_version is not None
    return not opening and (unknown or admission.revision in PER_REQUEST)


def _needs_handshake(version: str | None) -> bool:
    """Whether a version is known, and has a handshake: a request of its clients declares nothing."""
    revision = BY_DATE.get(version or "")
    return revision is not None and revision.opening is Opening.HANDSHAKE


def _route_described(message: Envelope, peer: Peer, headers: Mapping[bytes, bytes]) -> Route:
    try:
        # Without the rules for names: those are compared later, when the parameters are decoded anyway.
        check_mirrors(message, peer.revision.date, headers, None)
    except RpcError as error:
        return Refusal(400, error.message, code=error.code, request_id=known_id(message), data=error.data)
    return Sessionless(peer.revision, peer, headers)


def _route_per_request(message: Envelope, admission: Admission, headers: Mapping[bytes, bytes]) -> Route:
    if known_id(message) is None or message.method is UNSET:
        # No mirror headers are defined for notifications. Responses have no request to answer here, and the
        # endpoint refuses them.
        return SESSIONLESS[PER_REQUEST[-1]]
    try:
        if _needs_handshake(admission.unknown_version) and not describes_itself(message):
            raise unsupported(str(admission.unknown_version), admission.served)
        declared = read_declaration(message, admission.served)
        version = str(declared.protocol_version)
        revision = BY_DATE.get(version)
        check_mirrors(message, version, headers, None if revision is None else revision.http)
        peer = declared_peer(declared, admission.served)
    except RpcError as error:
        return Refusal(400, error.message, code=error.code, request_id=known_id(message), data=error.data)
    return Sessionless(peer.revision, peer)


def _route_batch(
    payload: list[Any], admission: Admission, headers: Mapping[bytes, bytes], sessions: Sessions
) -> Route:
    if admission.unknown_version is not None:
        return unsupported_version(admission.unknown_version, admission.served)
    if admission.revision is None and admission.strictness.version_header:
        return _version_required(payload)
    session = headers.get(b"mcp-session-id")
    if session is not None and sessions is not Sessions.OFF:
        return InSession(session.decode("latin-1"))
    if sessions is Sessions.REQUIRED:
        return _session_required(payload)
    # Without a session, only the version header shows that the client uses a revision with batches.
    if admission.revision is None or admission.revision.batching is Batching.REFUSED:
        return batch_refused()
    return SESSIONLESS[admission.revision]


def batch_refused() -> Refusal:
    return Refusal(400, "batches are not part of this protocol revision: send one message at a time")


def unsupported_version(version: str, served: Served) -> Refusal:
    return Refusal(400, f"unsupported protocol version: {version}; supported: {', '.join(served.dates)}")


def session_gone(payload: Payload) -> Refusal:
    return _refuse(payload, "session not found: it ended or expired; send initialize again", status=404)


def sessions_full(payload: Payload) -> Refusal:
    reason = "too many sessions: end some with DELETE"
    return unavailable(reason, seconds=FULL_FOR, request_id=_id_of(payload))


def store_away(error: StoreAway, payload: Payload | None = None) -> Refusal:
    """Refuse a request that needs the store while that cannot be reached."""
    return Refusal(UNAVAILABLE, error.message, (retry_after(),), error.code, _id_of(payload))


def version_problem(admission: Admission, agreed: Revision, payload: Payload | None = None) -> Refusal | None:
    """Check the version header of a request in a session, where the server is strict about it."""
    strictness = admission.strictness
    if admission.revision is agreed or not (strictness.version_header or strictness.negotiated_version):
        return None
    if admission.revision is None:
        return _version_required(payload) if strictness.version_header else None
    return _refuse(payload, f"MCP-Protocol-Version is {admission.revision}: this session agreed on {agreed}")


def _version_required(payload: Payload | None) -> Refusal:
    return _refuse(payload, "MCP-Protocol-Version required: send the negotiated version")


def _session_required(payload: Payload) -> Refusal:
    return _refuse(payload, "session required: send initialize first, then its Mcp-Session-Id")


def _refuse(payload: Payload | None, reason: str, *, status: int = 400) -> Refusal:
    return Refusal(status, reason, code=INVALID_REQUEST, request_id=_id_of(payload))


def _id_of(payload: Payload | None) -> RequestId | None:
    return known_id(payload) if isinstance(payload, Envelope) else None
