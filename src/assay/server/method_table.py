"""What may be called: the methods of a revision, with all that stands before them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from assay.model.error import METHOD_NOT_FOUND, RpcError
from assay.protocol.layer import Layer, Serve
from assay.revisions.revision import Revision

from .call import Call
from .protocol_method import METHODS
from .scope_guard import guarded

if TYPE_CHECKING:
    from .server import Server

MethodTable = dict[str, Serve]


def make_table(server: Server, revision: Revision) -> MethodTable:
    """The methods of a revision by name, each behind its scopes and within the server's layers."""
    table = {
        name: guarded(name, method.serve, server.method_scopes.get(name, ()))
        for name, method in METHODS.items()
        if name in revision.requests and (method.feature is None or server.features.has(method.feature))
    }
    own = server.custom_methods.of(revision)
    table |= {method.name: guarded(method.name, method.serve, method.scopes) for method in own}
    return {name: layered(name, serve, server.layers) for name, serve in table.items()}


def layered(method: str, serve: Serve, layers: Sequence[Layer]) -> Serve:
    """A method within layers; the first of them is the outermost."""
    for layer in reversed(layers):
        serve = layer.wrap(method, serve)
    return serve


def unknown(method: str, layers: Sequence[Layer]) -> Callable[[Call], Awaitable[Any]]:
    """What answers for a method that is not there: layers hear of those, too."""

    async def refuse(call: Call) -> Any:
        raise RpcError(METHOD_NOT_FOUND, f"method not found: {method}")

    return layered(method, refuse, layers)
