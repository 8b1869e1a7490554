"""Names of `Context` that users of fastmcp and the official SDK write, for what Assay has under another name.

`docs/from-fastmcp.md` lists them.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from assay.model.answer import Root
from assay.model.content import Contents
from assay.model.definition import PromptDefinition, ResourceDefinition
from assay.model.jsonrpc import Envelope
from assay.model.result import PromptResult
from assay.server.components.registry import PagedRegistry
from assay.server.hint import CONTEXT_HINTS, missing_attribute

from .asking import AskingContext
from .call import Call

if TYPE_CHECKING:
    from assay.protocol.declaration import Level
    from assay.server.server import Server


class AliasContext(AskingContext):
    """Base of `Context`: the same under names of other libraries."""

    __slots__ = ()

    if TYPE_CHECKING:  # what the aliases lead to

        @property
        def server(self) -> Server[Any]: ...
        @property
        def session(self) -> MutableMapping[str, Any]: ...
        async def log(self, level: Level, data: Any, *, logger: str | None = None) -> None: ...
        async def close_stream(self, retry: float | None = None) -> None: ...
        async def progress(
            self, progress: float, total: float | None = None, message: str | None = None
        ) -> None: ...

    else:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, name, CONTEXT_HINTS)

    async def debug(
        self, message: Any, logger_name: str | None = None, extra: Mapping[str, Any] | None = None
    ) -> None:
        """`log("debug", message, logger=logger_name)`; with `extra` the data is an object with both."""
        await self.log("debug", _log_data(message, extra), logger=logger_name)

    async def info(
        self, message: Any, logger_name: str | None = None, extra: Mapping[str, Any] | None = None
    ) -> None:
        """`log("info", message, logger=logger_name)`; with `extra` the data is an object with both."""
        await self.log("info", _log_data(message, extra), logger=logger_name)

    async def warning(
        self, message: Any, logger_name: str | None = None, extra: Mapping[str, Any] | None = None
    ) -> None:
        """`log("warning", message, logger=logger_name)`; with `extra` the data is an object with both."""
        await self.log("warning", _log_data(message, extra), logger=logger_name)

    async def error(
        self, message: Any, logger_name: str | None = None, extra: Mapping[str, Any] | None = None
    ) -> None:
        """`log("error", message, logger=logger_name)`; with `extra` the data is an object with both."""
        await self.log("error", _log_data(message, extra), logger=logger_name)

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """`progress(...)`."""
        await self.progress(progress, total, message)

    async def list_roots(self) -> list[Root]:
        """`roots()`."""
        return await self.roots()

    async def close_sse_stream(self) -> None:
        """`close_stream()`."""
        await self.close_stream()

    async def get_state(self, key: str) -> Any:
        """`session.get(key)`: None if it was never set."""
        return self.session.get(key)

    async def set_state(self, key: str, value: Any, *, serializable: bool = True) -> None:
        """`session[key] = value`.

        Raises:
            TypeError: the value must be plain JSON.
        """
        if not serializable:
            raise TypeError(
                "ctx.session stores plain JSON only: keep other objects in a variable, in the lifespan, or in"
                " the state of ctx.scope"
            )
        self.session[key] = value

    async def delete_state(self, key: str) -> None:
        """`session.pop(key, None)`."""
        self.session.pop(key, None)

    @property
    def fastmcp(self) -> Server:
        """`server`."""
        return self.server

    @property
    def session_id(self) -> str | None:
        """The id of the client's session; None without a session, and on transports whose sessions have no
        id."""
        session = self._call.session
        return None if session is None else session.id or None

    @property
    def transport(self) -> str:
        """`scope.transport`: `stdio`, `http`, `websocket`, `memory` or `direct`."""
        return self._call.scope.transport

    def client_supports_extension(self, extension_id: str) -> bool:
        """Whether the client declared an extension, in revisions with extensions."""
        return extension_id in (self._call.peer.capabilities.extensions or {})

    async def list_resources(self) -> list[ResourceDefinition]:
        """The definitions of the resources that the caller's scopes allow."""
        return self._allowed(self.server.resources.registry)

    async def list_prompts(self) -> list[PromptDefinition]:
        """The definitions of the prompts that the caller's scopes allow."""
        return self._allowed(self.server.prompts.registry)

    async def read_resource(self, uri: str) -> list[Contents]:
        """Read a resource of this server as the caller of this request, whose access and scopes are checked.

        Raises:
            RpcError: the URI is invalid or unknown, access is denied, or a scope is missing.
        """
        return (await self.server.resources.read_for(str(uri), self._inner_call())).contents

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> PromptResult:
        """Get a prompt of this server as the caller of this request, whose scopes are checked.

        Raises:
            RpcError: unknown prompt, its arguments are invalid, or a scope is missing.
        """
        call = self._inner_call()
        prompt = self.server.prompts.find(name)
        call.require(prompt.scopes)
        return await prompt.get(dict(arguments or {}), call)

    def _allowed(self, registry: PagedRegistry[Any]) -> list[Any]:
        granted = self._call.scope.scopes
        usable = (each for each in registry if granted is None or granted.issuperset(each.scopes))
        return [component.definition for component in usable]

    def _inner_call(self) -> Call:
        """A call for the same caller. It has no session, because in a session its id would be taken for that
        of this request; so its handler cannot ask the client."""
        call = self._call
        scope = msgspec.structs.replace(call.scope, session=None, departure=None, detach=None)
        return Call(call.services, Envelope("2.0", id=call.id, params=Raw(b"{}")), call.peer, scope, None)


def _log_data(message: Any, extra: Mapping[str, Any] | None) -> Any:
    return message if extra is None else {"msg": message, "extra": dict(extra)}
