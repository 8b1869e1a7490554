"""What serves one extension in one server, and how it joins the method tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from assay.extensions.extension import NOTHING, Extension
from assay.protocol.codec import encode
from assay.protocol.http.mirror import check_name
from assay.protocol.middleware import Serve
from assay.revisions.revision import Results, Revision
from assay.server.calls.call import Call

_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


class ListenTopic(Protocol):
    """One name that an extension adds to the filter of `subscriptions/listen`: a list of keys."""

    async def accept(self, keys: list[str], call: Call, /) -> list[str]:
        """The keys that this client may follow.

        Raises:
            RpcError: the client may not use the topic at all.
        """
        ...


class ExtensionHandlers:
    """Serves an extension. A subclass overrides what its extension needs; `Extensions.join` adds an instance
    to a server."""

    topics: Mapping[str, ListenTopic] = NOTHING
    """What it adds to the filter of `subscriptions/listen`, by name."""

    def __init__(self, extension: Extension, methods: Mapping[str, Serve] = NOTHING) -> None:
        self.extension = extension
        self._methods = methods

    def settings(self, revision: Revision, call: Call) -> Mapping[str, Any] | None:
        """What the server declares to a client under the extension's name; None to declare nothing."""
        return self.extension.settings if self.extension.is_in(revision) else None

    def capabilities(self, revision: Revision, call: Call) -> Mapping[str, Any]:
        """Other capabilities that the server declares to a client."""
        return NOTHING

    def methods(self, revision: Revision) -> Mapping[str, Serve]:
        """The methods that clients of a revision may call. Those of the extension are served to clients that
        declared it; see `gated`."""
        return self._methods if self.extension.is_in(revision) else NOTHING

    def gates(self, method: str, revision: Revision) -> bool:
        """Whether a method belongs to the extension in a revision, and not to the revision itself."""
        return method in self.extension.requests and self.extension.is_in(revision)

    def wrap(self, method: str, serve: Serve, revision: Revision) -> Serve:
        """Return what serves a method from now on, outside of all middleware. Called once per method and
        revision."""
        return serve


def gated(extension: Extension, method: str, serve: Serve) -> Serve:
    """Serve a method of an extension by its rules: headers that repeat a parameter, clients that must have
    declared it, caching hints."""
    parameter = extension.mirrored.get(method)
    has_hints = method in extension.cacheable

    async def serve_declared(call: Call) -> Any:
        if parameter is not None and call.scope.mirrors is not None:
            _check_mirror(call, parameter)
        if extension.needs_declaration:
            extension.require(call.peer.capabilities, call.peer.revision)
        result = await serve(call)
        if has_hints and call.peer.revision.results is Results.TYPED:
            result = {**_decode_object(encode(result)), **msgspec.to_builtins(call.cache_hint)}
        return result

    return serve_declared


def _check_mirror(call: Call, parameter: str) -> None:
    """A missing header is accepted: clients of other SDKs send none with the methods of extensions.

    Raises:
        RpcError: the header differs from the parameter.
    """
    if b"mcp-name" not in (call.scope.mirrors or {}):
        return
    try:
        value = _decode_object(call.params).get(parameter)
    except msgspec.DecodeError:
        return  # the method reports what is wrong
    if isinstance(value, str) and call.scope.mirrors is not None:
        check_name(call.scope.mirrors, value)
