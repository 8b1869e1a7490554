"""Scopes: what a caller must have been granted, for a method and for what the method is about.

Where nobody asks who is calling, nothing was granted and nothing is refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.model.error import RegistrationError, RpcError
from assay.protocol.codec import decode_params
from assay.protocol.layer import Serve
from assay.protocol.scope import SCOPE_TOKEN
from assay.revisions.registry import REVISIONS

from .call import Call
from .registry import PagedRegistry

PROTOCOL_METHODS: Final = frozenset().union(*(revision.requests for revision in REVISIONS))


class _Target(Struct):
    name: str | None = None
    uri: str | None = None


_target: Final = msgspec.json.Decoder(_Target).decode


def read_scopes(given: Sequence[str], what: str) -> tuple[str, ...]:
    """
    Raises:
        RegistrationError: these are no scopes, such as one string instead of a list.
    """
    if isinstance(given, str):
        raise RegistrationError(f'{what}: scopes are a list, such as ["{given}"]')
    found = tuple(dict.fromkeys(given))
    for scope in found:
        if not isinstance(scope, str) or not SCOPE_TOKEN.fullmatch(scope):
            raise RegistrationError(f"{what}: not a scope: {scope!r}")
    return found


def read_method_scopes(given: Mapping[str, Sequence[str]] | None) -> dict[str, tuple[str, ...]]:
    """
    Raises:
        RegistrationError: the protocol has no such method; a slip would leave the one that was meant open.
    """
    for method in given or ():
        if method not in PROTOCOL_METHODS:
            hint = "methods of your own take theirs in @server.method(..., scopes=[...])"
            raise RegistrationError(f"scopes: the protocol has no method {method!r}; {hint}")
    return {method: read_scopes(scopes, method) for method, scopes in (given or {}).items()}


def guarded(method: str, serve: Serve, needed: Sequence[str]) -> Serve:
    """Serve only those who were granted what the method takes."""

    def serve_granted(call: Call) -> Awaitable[Any]:
        granted = call.scope.scopes
        if granted is not None and not granted.issuperset(needed):
            # One challenge names all that it takes, so that the client need not be sent away twice.
            call.require((*needed, *_scopes_of_target(method, call)))
        call.require(needed)
        return serve(call)

    return serve_granted if needed else serve


def _scopes_of_target(method: str, call: Call) -> Sequence[str]:
    """What it takes to use what a request is about, so far as that can be found."""
    server = call.server
    try:
        target = decode_params(call.params, _target)
        if method in ("resources/read", "resources/subscribe"):
            return server.resources.scopes_of(target.uri)
    except RpcError:
        return ()
    registries: dict[str, PagedRegistry[Any]] = {
        "tools/call": server.tools.registry,
        "prompts/get": server.prompts.registry,
    }
    return registries[method].scopes_of(target.name) if method in registries else ()
