"""What a client can ask a server for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from time import perf_counter
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw

from assay.model.client_error import ServerError, ToolFailed
from assay.model.client_limits import ClientLimits
from assay.model.content import Contents
from assay.model.definition import PromptDefinition, ResourceDefinition, TemplateDefinition, ToolDefinition
from assay.model.error import HEADER_MISMATCH
from assay.model.result import CompleteResult, Completion, PromptResult, ReadResult, ToolResult

from .callback import Callback
from .listing import collect, decode_result
from .typed import as_type

T = TypeVar("T")
DEFAULT: Final[Any] = object()
"""The timeout of the client."""


class Calls:
    """The calls of `Client`, on top of its requests."""

    limits: ClientLimits

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = DEFAULT,
        progress: Callback | None = None,
        idempotent: bool | None = None,
    ) -> Any:
        """Send a request of any method and return its result, decoded from JSON. `idempotent` as for
        `call_tool`.

        Raises:
            ClientError: no answer, or an error.
        """
        return msgspec.json.decode(await self._request(method, _copy(params), timeout, progress, idempotent))

    async def _request(
        self,
        method: str,
        params: dict[str, Any] | None,
        timeout: float | None = DEFAULT,
        progress: Callback | None = None,
        idempotent: bool | None = None,
    ) -> Raw:
        raise NotImplementedError

    def _learn(self, tools: list[ToolDefinition]) -> list[ToolDefinition]:
        """The tools that can be used over the client's transport."""
        raise NotImplementedError

    async def tools(self) -> list[ToolDefinition]:
        """All tools of the server."""
        return self._learn(await collect("tools/list", self._request, self.limits))

    async def resources(self) -> list[ResourceDefinition]:
        """All resources of the server, without those that only templates describe."""
        return await collect("resources/list", self._request, self.limits)

    async def templates(self) -> list[TemplateDefinition]:
        """All resource templates of the server."""
        return await collect("resources/templates/list", self._request, self.limits)

    async def prompts(self) -> list[PromptDefinition]:
        """All prompts of the server."""
        return await collect("prompts/list", self._request, self.limits)

    async def call(self, name: str, /, **arguments: Any) -> ToolResult:
        """Call a tool.

            result = await client.call("add", a=1, b=2)

        Every keyword is an argument of the tool; `call_tool` has options.

        Raises:
            ToolFailed: the tool reported a failure; also a `ToolError`.
            ClientError: no answer, or an error.
        """
        return await self.call_tool(name, arguments)

    async def call_as(self, expected: type[T], name: str, /, **arguments: Any) -> T:
        """Call a tool and return its structured content as a value of this type: a dataclass, a TypedDict, a
        msgspec or attrs class, a pydantic model, or a plain type.

        Raises:
            InvalidAnswer: the content does not fit the type.
            ClientError: as `call`.
        """
        return as_type(await self.call_tool(name, arguments), expected, name)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = DEFAULT,
        progress: Callback | None = None,
        check: bool = True,
        meta: Mapping[str, Any] | None = None,
        idempotent: bool | None = None,
    ) -> ToolResult:
        """Call a tool, with options.

        Args:
            name: The tool.
            arguments: Its arguments.
            timeout: Seconds to wait for each answer of the server; then the call is cancelled. None waits
                for ever.
            progress: Called with each `Progress` that the server reports.
            check: Whether a failure of the tool is raised; otherwise look at `is_error`.
            meta: Further entries of the request's `_meta`.
            idempotent: Whether the call may be sent again if the connection is lost before the answer. By
                default this is so if `tools()` has returned the tool with `readOnlyHint` or
                `idempotentHint`.

        Raises:
            ToolFailed: the tool reported a failure; also a `ToolError`.
            ClientError: no answer, or an error.
        """
        params: dict[str, Any] = {"name": name, "arguments": arguments if arguments is not None else {}}
        if meta is not None:
            params["_meta"] = dict(meta)
        raw = await self._call_tool(params, timeout, progress, idempotent)
        try:
            result = _tool_result_decoder()(raw)
        except (msgspec.DecodeError, RecursionError):
            result = decode_result(raw, ToolResult, f"tools/call of {name}")
        if result.is_error and check:
            raise ToolFailed(name, result)
        return result

    async def _call_tool(
        self,
        params: dict[str, Any],
        timeout: float | None,
        progress: Callback | None,
        idempotent: bool | None,
    ) -> Raw:
        try:
            return await self._request("tools/call", params, timeout, progress, idempotent)
        except ServerError as error:
            if error.code != HEADER_MISMATCH:
                raise
        # The tool repeats arguments in headers that this client does not know, or that have changed.
        await self.tools()
        return await self._request("tools/call", params, timeout, progress, idempotent)

    async def read(self, uri: str, *, timeout: float | None = DEFAULT) -> list[Contents]:
        """Read a resource. Most have one part.

        Raises:
            ServerError: the server has no such resource.
            ClientError: no answer.
        """
        raw = await self._request("resources/read", {"uri": uri}, timeout)
        return decode_result(raw, ReadResult, "resources/read").contents

    async def prompt(self, name: str, /, **arguments: str) -> PromptResult:
        """Get a prompt, filled with its arguments, which are texts.

        Raises:
            ServerError: the server has no such prompt, or an argument is missing.
            ClientError: no answer.
        """
        raw = await self._request("prompts/get", {"name": name, "arguments": arguments})
        return decode_result(raw, PromptResult, "prompts/get")

    async def complete(
        self,
        argument: str,
        value: str,
        *,
        prompt: str | None = None,
        template: str | None = None,
        context: Mapping[str, str] | None = None,
    ) -> Completion:
        """Suggested values for an argument of a prompt or a resource template.

        Args:
            argument: The name of the argument.
            value: What the user has typed so far.
            prompt: The name of the prompt; or
            template: the URI template.
            context: The arguments that are already known.
        """
        if (prompt is None) == (template is None):
            raise ValueError("complete needs either prompt= or template=")
        ref = {"type": "ref/resource", "uri": template} if prompt is None else _prompt_ref(prompt)
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
        if context is not None:
            params["context"] = {"arguments": dict(context)}
        raw = await self._request("completion/complete", params)
        return decode_result(raw, CompleteResult, "completion/complete").completion

    async def ping(self, *, timeout: float | None = DEFAULT) -> float:
        """Seconds for a request and its answer. In revisions without `ping`, `server/discover` is sent.

        Raises:
            ClientError: no answer.
        """
        start = perf_counter()
        await self._request(self._ping_method, None, timeout)
        return perf_counter() - start

    @property
    def _ping_method(self) -> str:
        raise NotImplementedError


@cache
def _tool_result_decoder() -> Callable[[Raw], ToolResult]:
    return msgspec.json.Decoder(ToolResult).decode


def _prompt_ref(name: str) -> dict[str, str]:
    return {"type": "ref/prompt", "name": name}


def _copy(params: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if params is None else dict(params)
