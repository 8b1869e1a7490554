"""Declarations: what a self-describing request states about its client, in `params._meta`."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from assay.model.definition import ClientCapabilities, Implementation
from assay.model.error import INVALID_PARAMS, UNSUPPORTED_VERSION, RpcError
from assay.model.jsonrpc import Envelope
from assay.revisions.registry import PER_REQUEST, SELF_DESCRIBING
from assay.revisions.served import EVERY, Served

from .session import Peer

PREFIX = "io.modelcontextprotocol/"

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class Declaration(Struct):
    protocol_version: str | UnsetType = field(name=f"{PREFIX}protocolVersion", default=UNSET)
    client_capabilities: ClientCapabilities | UnsetType = field(
        name=f"{PREFIX}clientCapabilities", default=UNSET
    )
    client_info: Implementation | None = field(name=f"{PREFIX}clientInfo", default=None)
    log_level: Level | None = field(name=f"{PREFIX}logLevel", default=None)


class _VersionOnly(Struct):
    protocol_version: msgspec.Raw | UnsetType = field(name=f"{PREFIX}protocolVersion", default=UNSET)


_decode = msgspec.json.Decoder(Declaration).decode
_decode_version = msgspec.json.Decoder(_VersionOnly).decode


CACHED_BYTES = 1024
"""Longer declarations are not cached: anyone can send them, and the cache holds 256."""


@lru_cache(maxsize=256)
def _cached(meta: bytes) -> Peer:
    return declared_peer(_check(_decode(meta)))


def cached_peer(message: Envelope) -> Peer | None:
    """The client that a valid declaration describes; none for an invalid one. Cached, because a client sends
    the same declaration with every request."""
    if message.decoded_params is UNSET or message.decoded_params.meta is UNSET:
        return None
    try:
        meta = bytes(message.decoded_params.meta)
        return _cached(meta) if len(meta) <= CACHED_BYTES else _cached.__wrapped__(meta)
    except (RpcError, msgspec.DecodeError):
        return None  # `read_declaration` reports what is wrong


def describes_itself(message: Envelope) -> bool:
    """Whether a request belongs to a revision without a handshake: it names its protocol version, or its
    method exists only there."""
    if message.decoded_params is UNSET or message.decoded_params.meta is UNSET:
        return message.method in SELF_DESCRIBING
    try:
        version = _decode_version(message.decoded_params.meta).protocol_version
        return version is not UNSET or message.method in SELF_DESCRIBING
    except msgspec.DecodeError:
        return message.method in SELF_DESCRIBING


def read_declaration(message: Envelope, served: Served = EVERY) -> Declaration:
    """
    Raises:
        RpcError: a required field is missing, or one has the wrong type.
    """
    try:
        meta = UNSET if message.decoded_params is UNSET else message.decoded_params.meta
        declared = Declaration() if meta is UNSET else _decode(meta)
    except msgspec.DecodeError as error:
        raise RpcError(INVALID_PARAMS, f"invalid _meta: {error}") from None
    return _check(declared, served)


def _check(declared: Declaration, served: Served = EVERY) -> Declaration:
    missing = [
        name
        for name, value in (
            ("protocolVersion", declared.protocol_version),
            ("clientCapabilities", declared.client_capabilities),
        )
        if value is UNSET
    ]
    if missing:
        names = " and ".join(f"{PREFIX}{name}" for name in missing)
        raise RpcError(INVALID_PARAMS, f"_meta needs {names}", {"supported": served.newest_first})
    return declared


def unsupported(requested: str, served: Served) -> RpcError:
    """The error for a version that is not served."""
    return RpcError(
        UNSUPPORTED_VERSION,
        f"unsupported protocol version: {requested}",
        {"supported": served.newest_first, "requested": requested},
    )


def declared_peer(declared: Declaration, served: Served = EVERY) -> Peer:
    """
    Raises:
        RpcError: the version is not served, or needs a handshake.
    """
    requested = str(declared.protocol_version)
    revision = served.by_date.get(requested)
    if revision is None or revision not in PER_REQUEST:
        error = unsupported(requested, served)
        if revision is not None:
            error.message += ": it is negotiated by initialize, not declared by each request"
        raise error
    assert isinstance(declared.client_capabilities, ClientCapabilities)
    return Peer(revision, declared.client_capabilities, declared.client_info, declared.log_level)
