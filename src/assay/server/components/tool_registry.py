"""The tools of a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from assay.model.definition import ToolDefinition
from assay.model.error import INVALID_PARAMS, RegistrationError, RpcError
from assay.model.result import ToolResult
from assay.server.calls.call import DirectCall
from assay.server.handlers.concurrency import ConcurrencyLimit
from assay.server.hint import COMPONENT_OPTION_HINTS, check_names, option_names

from .registry import PagedRegistry
from .tool import Tool, make_tool


class Tools:
    """The tools of a server, available as `Server.tools`; `Server.tool` is a decorator for `add`."""

    def __init__(
        self,
        registry: PagedRegistry[Tool],
        limit: ConcurrencyLimit,
        backlog: int,
        direct_call: DirectCall,
        *,
        unknown: int = INVALID_PARAMS,
        on_tool: Callable[[Tool], None] = lambda tool: None,
    ) -> None:
        self.registry = registry
        self._limit = limit
        self._backlog = backlog
        self._direct_call = direct_call
        self._unknown = unknown
        """The error code for an unknown tool."""
        self._on_tool = on_tool
        """Called with each tool before it is added: it may need an extension."""

    def __len__(self) -> int:
        return len(self.registry)

    def __iter__(self) -> Iterator[Tool]:
        """The tools, each with `key`, `tags`, `scopes` and `definition`. They may be removed meanwhile."""
        return iter(tuple(self.registry))

    def add(self, function: Callable[..., Any], *, concurrency: int | None = None, **options: Any) -> None:
        """Register a function as a tool, with the options of `Server.tool`. Clients are notified.

        Raises:
            RegistrationError: the function or an option is invalid, or the name is taken.
        """
        known = (*option_names(make_tool), "concurrency")
        check_names("a tool", options, known, COMPONENT_OPTION_HINTS)
        if concurrency is not None and concurrency < 1:
            raise RegistrationError(f"concurrency must be at least 1: {concurrency}")
        limits = () if concurrency is None else (ConcurrencyLimit(concurrency, self._backlog),)
        tool = make_tool(function, limits=(*limits, self._limit), **options)
        self._on_tool(tool)
        self.registry.add(tool)

    def remove(self, name: str) -> None:
        """Remove a tool. Clients are notified.

        Raises:
            KeyError: unknown tool.
        """
        self.registry.remove(name)

    def list(self) -> list[ToolDefinition]:
        """The definitions of all tools, in order of registration."""
        return [tool.definition for tool in self.registry]

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Call a tool from code, without a client: questions to the client fail, and progress is discarded.

        Raises:
            RpcError: unknown tool.
            TypeError: the arguments are not a mapping.
        """
        if arguments is not None and not isinstance(arguments, Mapping):
            raise TypeError(
                f"arguments are {arguments!r:.60}: write call({name!r}, {{...}}), with their names"
            )
        raw = Raw(msgspec.json.encode(dict(arguments or {})))
        async with self._direct_call() as call:
            result = await self.find(name).call(raw, call)
        if isinstance(result.structured, Raw):
            result.structured = msgspec.json.decode(result.structured)
        return result

    def find(self, name: str) -> Tool:
        tool = self.registry.get(name)
        if tool is None:
            raise RpcError(self._unknown, f"unknown tool: {name}")
        return tool
