"""How a client and a server agree on a revision, as a generator of requests to send.

A client first sends `server/discover`. A server that does not know it is opened with the handshake
(basic/versioning, basic/transports/stdio and streamable-http of the revision without a handshake). The driver
sends each `Attempt` and passes back its result, or a `Refusal`; it raises failures that say nothing about the
revision, such as a closed port.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw, Struct, field

from assay.model.client_error import ConnectionFailed, InvalidAnswer
from assay.model.definition import Implementation, InitializeResult
from assay.model.error import HEADER_MISMATCH, METHOD_NOT_FOUND, MISSING_CAPABILITY, UNSUPPORTED_VERSION
from assay.revisions.registry import BY_DATE, DATES, HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Opening, Revision

PREFIX: Final = "io.modelcontextprotocol/"
ROOTS_CHANGED: Final = "notifications/roots/list_changed"
FINAL_CODES: Final = frozenset({HEADER_MISMATCH, MISSING_CAPABILITY})
"""Errors that only a server without a handshake sends: trying a handshake would not help."""


class Identity(Struct, frozen=True):
    """What a client declares."""

    info: Implementation
    capabilities: dict[str, Any]
    log_level: str | None = None


class Attempt(Struct, frozen=True):
    method: str
    params: dict[str, Any]
    revision: Revision
    fresh: bool = False
    """Whether the request needs a new connection, because the server ended the last one."""


class Refusal(Struct, frozen=True):
    """The server did not answer an attempt with a result."""

    error: Exception
    code: int | None = None
    data: Any = None
    status: int | None = None
    """The HTTP status of the error."""
    ended: bool = False
    """Whether the connection ended. Some servers end when their first message is not `initialize`."""


class Agreement(Struct, frozen=True):
    """What client and server agreed on."""

    revision: Revision
    capabilities: dict[str, Any]
    server_info: Implementation | None
    instructions: str | None = None


class _Meta(Struct):
    server_info: Implementation | None = field(name=f"{PREFIX}serverInfo", default=None)


class _Discovery(Struct, rename="camel"):
    supported_versions: list[str]
    capabilities: dict[str, Any]
    instructions: str | None = None
    meta: _Meta | None = field(name="_meta", default=None)


T = TypeVar("T")
Steps = Generator[Attempt, Raw | Refusal, Agreement]


def declaration(identity: Identity, revision: Revision) -> dict[str, Any]:
    """The `_meta` of every request, in revisions without a handshake."""
    meta: dict[str, Any] = {
        f"{PREFIX}protocolVersion": revision.date,
        f"{PREFIX}clientInfo": identity.info,
        f"{PREFIX}clientCapabilities": _capabilities(identity, revision),
    }
    if identity.log_level is not None:
        meta[f"{PREFIX}logLevel"] = identity.log_level
    return meta


def join_declarations(own: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """The `_meta` of one request: what its caller passed, and what the client declares, which wins. A caller
    may declare further extensions."""
    joined = {**own, **declared}
    capabilities = own.get(f"{PREFIX}clientCapabilities")
    if isinstance(capabilities, dict) and isinstance(capabilities.get("extensions"), dict):
        ours = declared[f"{PREFIX}clientCapabilities"]
        extensions = {**capabilities["extensions"], **ours.get("extensions", {})}
        joined[f"{PREFIX}clientCapabilities"] = {**ours, "extensions": extensions}
    return joined


def declares_extension(meta: Any, name: str) -> bool:
    """Whether the `_meta` of a request declares an extension."""
    capabilities = meta.get(f"{PREFIX}clientCapabilities") if isinstance(meta, dict) else None
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    return isinstance(extensions, dict) and name in extensions


def _capabilities(identity: Identity, revision: Revision) -> dict[str, Any]:
    """What the client declares; changes of its roots only where they can be announced."""
    if "roots" not in identity.capabilities or ROOTS_CHANGED not in revision.notifications:
        return identity.capabilities
    return {**identity.capabilities, "roots": {"listChanged": True}}


def read_revision(date: str) -> Revision:
    """
    Raises:
        ValueError: the date is not that of a revision.
    """
    revision = BY_DATE.get(date)
    if revision is None:
        raise ValueError(f"unknown protocol revision {date!r}: known are {', '.join(DATES)}")
    return revision


def agree(identity: Identity, pinned: Revision | None = None, remembered: Revision | None = None) -> Steps:
    """The requests that open a conversation. `remembered` is what this endpoint agreed to earlier.

    Raises:
        ClientError: the two have no common revision, or the server refused all attempts.
    """
    if pinned is not None:
        return (yield from _pinned(identity, pinned))
    ended = False
    if remembered is not None and remembered.opening is Opening.HANDSHAKE:
        answer = yield _initialize(identity, HANDSHAKE[-1])
        if not isinstance(answer, Refusal):
            return _initialized(answer, HANDSHAKE)
        ended = answer.ended
    newest = PER_REQUEST[-1]
    answer = yield _discover(identity, newest, fresh=ended)
    probe = answer if isinstance(answer, Refusal) else _read_discovery(answer)
    if not isinstance(probe, Refusal):
        return (yield from _discovered(identity, newest, probe))
    if probe.code in FINAL_CODES:
        raise probe.error
    if probe.code == UNSUPPORTED_VERSION:
        return (yield from _with_listed(identity, _listed(probe), probe))
    return (yield from _handshake(identity, probe))


def _pinned(identity: Identity, revision: Revision) -> Steps:
    if revision.opening is Opening.HANDSHAKE:
        answer = yield _initialize(identity, revision)
        if isinstance(answer, Refusal):
            raise answer.error
        return _initialized(answer, (revision,))
    answer = yield _discover(identity, revision)
    if isinstance(answer, Refusal) and revision.date in _listed(answer):
        answer = yield _discover(identity, revision, fresh=answer.ended)
    if isinstance(answer, Refusal) and _lacks_only_discovery(answer):
        return Agreement(revision, {}, None)
    if isinstance(answer, Refusal):
        raise _incompatible(_listed(answer), (revision.date,)) if _listed(answer) else answer.error
    discovery = _decode(answer, _Discovery, "server/discover")
    if revision.date not in discovery.supported_versions:
        raise _incompatible(discovery.supported_versions, (revision.date,))
    return _agreed(revision, discovery)


def _handshake(identity: Identity, probe: Refusal) -> Steps:
    answer = yield _initialize(identity, HANDSHAKE[-1], fresh=probe.ended)
    if not isinstance(answer, Refusal):
        return _initialized(answer, HANDSHAKE)
    # A server may name the versions that it serves; one without a handshake should.
    listed = _listed(answer)
    if not listed and _lacks_only_discovery(probe):
        return Agreement(PER_REQUEST[-1], {}, None)
    if not listed and isinstance(probe.error, InvalidAnswer):
        raise probe.error from answer.error
    if not listed:
        raise answer.error from probe.error
    return (yield from _with_listed(identity, listed, answer))


def _with_listed(identity: Identity, listed: list[str], refusal: Refusal) -> Steps:
    """Use the newest version that the server lists and this client knows."""
    revision = _newest(listed)
    if revision is None:
        raise _incompatible(listed, DATES) from refusal.error
    if revision.opening is Opening.HANDSHAKE:
        answer = yield _initialize(identity, revision, fresh=refusal.ended)
        if isinstance(answer, Refusal):
            raise answer.error
        return _initialized(answer, HANDSHAKE)
    answer = yield _discover(identity, revision, fresh=refusal.ended)
    if isinstance(answer, Refusal):
        raise answer.error
    return _agreed(revision, _decode(answer, _Discovery, "server/discover"))


def _read_discovery(raw: Raw) -> _Discovery | Refusal:
    """Some servers answer every method with a result: one of another form says that they do not know it."""
    try:
        return _decode(raw, _Discovery, "server/discover")
    except InvalidAnswer as error:
        return Refusal(error)


def _discovered(identity: Identity, used: Revision, discovery: _Discovery) -> Steps:
    if used.date in discovery.supported_versions:
        return _agreed(used, discovery)
    problem = Refusal(_incompatible(discovery.supported_versions, DATES))
    return (yield from _with_listed(identity, discovery.supported_versions, problem))


def _discover(identity: Identity, revision: Revision, *, fresh: bool = False) -> Attempt:
    return Attempt("server/discover", {"_meta": declaration(identity, revision)}, revision, fresh)


def _initialize(identity: Identity, revision: Revision, *, fresh: bool = False) -> Attempt:
    params = {
        "protocolVersion": revision.date,
        "capabilities": _capabilities(identity, revision),
        "clientInfo": identity.info,
    }
    return Attempt("initialize", params, revision, fresh)


def _initialized(raw: Raw, accepted: Iterable[Revision]) -> Agreement:
    result = _decode(raw, InitializeResult, "initialize")
    revision = BY_DATE.get(result.protocol_version)
    if revision is None or revision not in accepted:
        raise _incompatible([result.protocol_version], [each.date for each in accepted])
    return Agreement(revision, result.capabilities, result.server_info, result.instructions)


def _agreed(revision: Revision, discovery: _Discovery) -> Agreement:
    info = None if discovery.meta is None else discovery.meta.server_info
    return Agreement(revision, discovery.capabilities, info, discovery.instructions)


def _newest(listed: list[str]) -> Revision | None:
    known = [BY_DATE[date] for date in listed if date in BY_DATE]
    return max(known, key=lambda revision: revision.date, default=None)


def _lacks_only_discovery(refusal: Refusal) -> bool:
    """Whether a server speaks a revision without a handshake, but does not implement `server/discover`: only
    such revisions answer an unknown method with status 404 and an error."""
    return refusal.code == METHOD_NOT_FOUND and refusal.status == 404


def _listed(refusal: Refusal) -> list[str]:
    data = refusal.data
    listed = data.get("supported") if isinstance(data, dict) else None
    return [date for date in listed if isinstance(date, str)] if isinstance(listed, list) else []


def _incompatible(theirs: Iterable[str], ours: Iterable[str]) -> ConnectionFailed:
    return ConnectionFailed(
        f"no common protocol revision: the server supports {', '.join(theirs) or 'none'},"
        f" and this client was to use {', '.join(ours)}"
    )


def _decode(raw: Raw, expected: type[T], method: str) -> T:
    try:
        return msgspec.json.decode(raw, type=expected)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidAnswer(f"the server's answer to {method} is invalid: {error}") from None
