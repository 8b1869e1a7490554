"""Where a posted message goes: the decision order for POST once the body is decoded."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import UNSET

from assay.model.error import INVALID_REQUEST, MalformedMessage
from assay.model.jsonrpc import Envelope
from assay.protocol.codec import known_id
from assay.revisions.registry import ASSUMED, DATES, REVISIONS
from assay.revisions.revision import Batching, Revision

from .gate import Admission, Refusal
from .policy import Sessions

Posted = Envelope | list[Envelope | MalformedMessage]


@dataclass(frozen=True, slots=True)
class OpenSession:
    """An `initialize` that starts a conversation."""


@dataclass(frozen=True, slots=True)
class InSession:
    """A message of a session; `session_id` has yet to be looked up."""

    session_id: str


@dataclass(frozen=True, slots=True)
class Alone:
    """A message that is served by itself under this revision."""

    revision: Revision


ALONE = {revision: Alone(revision) for revision in REVISIONS}
OPEN_SESSION = OpenSession()

Route = OpenSession | InSession | Alone | Refusal


def route(posted: Posted, admission: Admission, session_header: bytes | None, sessions: Sessions) -> Route:
    # Without an id it is a notification, and those open nothing.
    opening = not isinstance(posted, list) and posted.method == "initialize" and posted.id is not UNSET
    if admission.unknown_version is not None and not opening:
        return unsupported_version(admission.unknown_version, posted)
    if session_header is not None and sessions is not Sessions.OFF:
        return InSession(session_header.decode("latin-1"))
    if opening and sessions is not Sessions.OFF:
        return OPEN_SESSION
    if sessions is Sessions.REQUIRED:
        return _refuse(posted, "session required: send initialize first, then its Mcp-Session-Id")
    if isinstance(posted, list):
        return _route_batch(admission)
    return ALONE[admission.revision or ASSUMED]


def _route_batch(admission: Admission) -> Route:
    # Without a session only an explicit header shows that the client speaks a revision with batches.
    if admission.revision is None or admission.revision.batching is Batching.REFUSED:
        return batch_refused()
    return ALONE[admission.revision]


def batch_refused() -> Refusal:
    return Refusal(400, "batches are not part of this protocol revision: send one message at a time")


def unsupported_version(version: str, posted: Posted) -> Refusal:
    return _refuse(posted, f"unsupported protocol version: {version}; supported: {', '.join(DATES)}")


def session_gone(posted: Posted) -> Refusal:
    return _refuse(posted, "session not found: it ended or expired; send initialize again", status=404)


def _refuse(posted: Posted, reason: str, *, status: int = 400) -> Refusal:
    request_id = None if isinstance(posted, list) else known_id(posted)
    return Refusal(status, reason, code=INVALID_REQUEST, request_id=request_id)
