"""The tools of a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from assay.model.definition import ToolDefinition
from assay.model.error import INVALID_PARAMS, RegistrationError, RpcError
from assay.model.result import ToolResult

from .call import Call
from .concurrency import ConcurrencyLimit
from .registry import PagedRegistry
from .tool import Tool, make_tool


class Tools:
    """Register, remove, list and call tools from code; `Server.tool` is the decorator for the first."""

    def __init__(
        self,
        registry: PagedRegistry[Tool],
        limit: ConcurrencyLimit,
        backlog: int,
        direct_call: Callable[[], Call],
        *,
        unknown: int = INVALID_PARAMS,
    ) -> None:
        self.registry = registry
        self._limit = limit
        self._backlog = backlog
        self._direct_call = direct_call
        self._unknown = unknown
        """The error code for a tool that is not there."""

    def __len__(self) -> int:
        return len(self.registry)

    def add(self, function: Callable[..., Any], *, concurrency: int | None = None, **options: Any) -> None:
        """Register a function; options are those of `Server.tool`.

        Raises:
            RegistrationError: it cannot be served as a tool.
        """
        if concurrency is not None and concurrency < 1:
            raise RegistrationError(f"concurrency must be at least 1: {concurrency}")
        own = () if concurrency is None else (ConcurrencyLimit(concurrency, self._backlog),)
        self.registry.add(make_tool(function, limits=(*own, self._limit), **options))

    def remove(self, name: str) -> None:
        """
        Raises:
            KeyError: there is no such tool.
        """
        self.registry.remove(name)

    def list(self) -> list[ToolDefinition]:
        return [tool.definition for tool in self.registry]

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Call a tool as a client would, without one: it can be neither asked nor told of progress.

        Raises:
            RpcError: there is no such tool.
        """
        raw = Raw(msgspec.json.encode(dict(arguments or {})))
        result = await self.find(name).call(raw, self._direct_call())
        if isinstance(result.structured, Raw):
            result.structured = msgspec.json.decode(result.structured)
        return result

    def find(self, name: str) -> Tool:
        tool = self.registry.get(name)
        if tool is None:
            raise RpcError(self._unknown, f"unknown tool: {name}")
        return tool
