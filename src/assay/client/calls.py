"""What a client can ask a server for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any, Never, TypeVar

import msgspec
from msgspec import Raw

from assay.model.client_error import InvalidAnswer, ServerError, ToolFailed
from assay.model.client_limits import ClientLimits
from assay.model.content import Contents
from assay.model.definition import PromptDefinition, ResourceDefinition, TemplateDefinition, ToolDefinition
from assay.model.error import HEADER_MISMATCH
from assay.model.result import CompleteResult, Completion, PromptResult, ReadResult, ToolResult

from .callback import Callback
from .extension_calls import DEFAULT, ExtensionCalls
from .hint import check_call, check_text, refuse_positional, unencodable
from .listing import collect, decode_result
from .number import check_numbers
from .output import Outputs
from .result_cache import ResultCache
from .typed import as_type

if TYPE_CHECKING:
    from .running_call import RunningCall
    from .task import RunningTask

T = TypeVar("T")


class Calls(ExtensionCalls):
    """The calls of `Client`, on top of its requests."""

    limits: ClientLimits
    _outputs: Outputs
    """The output schemas of the tools that were listed; empty if results are not checked."""
    _cache: ResultCache

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
        check_text("the method", method, "write request('tools/list')")
        if params:
            check_numbers(params, method, "")
        return msgspec.json.decode(await self._request(method, _copy(params), timeout, progress, idempotent))

    @abstractmethod
    def _learn(self, tools: list[ToolDefinition]) -> list[ToolDefinition]:
        """The tools that can be used over the client's transport."""

    async def tools(self, *, fresh: bool = False) -> list[ToolDefinition]:
        """All tools of the server. Lists and resources that the server allows to reuse come from the client's
        cache while they are; `fresh` asks the server."""
        return self._learn(await self._list("tools/list", fresh))

    async def resources(self, *, fresh: bool = False) -> list[ResourceDefinition]:
        """All resources of the server, without those that only templates describe."""
        return await self._list("resources/list", fresh)

    async def templates(self, *, fresh: bool = False) -> list[TemplateDefinition]:
        """All resource templates of the server."""
        return await self._list("resources/templates/list", fresh)

    async def prompts(self, *, fresh: bool = False) -> list[PromptDefinition]:
        """All prompts of the server."""
        return await self._list("prompts/list", fresh)

    async def _list(self, method: str, fresh: bool) -> list[Any]:
        return await collect(method, self._cache.pages(method, self._request, fresh), self.limits)

    async def call(self, name: str, /, *positional: Never, **arguments: Any) -> ToolResult:
        """Call a tool.

            result = await client.call("add", a=1, b=2)

        Every keyword is an argument of the tool; `call_tool` has options.

        Raises:
            ToolFailed: the tool reported a failure; also a `ToolError`.
            InvalidAnswer: the result does not fit the output schema that `tools()` has returned.
            ClientError: no answer, or an error.
        """
        if positional:
            refuse_positional("call", "; or in a dict: call_tool(name, {…})")
        return await self.call_tool(name, arguments)

    async def call_as(self, expected: type[T], name: str, /, *positional: Never, **arguments: Any) -> T:
        """Call a tool and return its structured content as a value of this type: a dataclass, a TypedDict, a
        msgspec or attrs class, a pydantic model, or a plain type.

        Raises:
            InvalidAnswer: the content does not fit the type.
            ClientError: as `call`.
        """
        if positional:
            refuse_positional("call_as")
        if type(name) is not str:
            check_text("the name of the tool", name, "the order is call_as(Type, name, key=value)")
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
        **others: Never,
    ) -> ToolResult:
        """Call a tool, with options.

        Args:
            name: The tool.
            arguments: Its arguments.
            timeout: Seconds to wait for each answer; then the call is cancelled. None waits for ever.
            progress: Called with each `Progress` that the server reports.
            check: Whether a failure of the tool is raised; otherwise look at `is_error`.
            meta: Further entries of the request's `_meta`.
            idempotent: Whether the call may be sent again if the connection is lost before the answer. By
                default this is so if `tools()` has returned the tool with `readOnlyHint` or
                `idempotentHint`.

        Raises:
            TypeError, ValueError: an argument cannot be expressed in JSON, such as NaN or an infinity.
            ToolFailed: the tool reported a failure; also a `ToolError`.
            ClientError: no answer, or an error.
        """
        if others or type(name) is not str:
            check_call("call_tool", name, others)
        params: dict[str, Any] = {"name": name, "arguments": {} if arguments is None else arguments}
        if meta is not None:
            params["_meta"] = dict(meta)
        if arguments:
            check_numbers(arguments, name)
        raw = await self._call_tool(params, timeout, progress, idempotent)
        try:
            return self._tool_result(name, raw, check)
        except InvalidAnswer:
            task = self._created_task(name, raw, check=check)
            if task is None:
                raise
        return await task

    def _created_task(self, name: str, raw: Raw, *, check: bool) -> RunningTask | None:
        """The task that the server made of a call, if the answer is none of a plain call."""
        from .task import created_task

        return created_task(self, name, raw, check=check)

    def _tool_result(self, name: str, raw: Raw, check: bool) -> ToolResult:
        try:
            result = _tool_result_decoder()(raw)
        except (msgspec.DecodeError, RecursionError):
            result = decode_result(raw, ToolResult, f"tools/call of {name}")
        if result.is_error and check:
            raise ToolFailed(name, result)
        if self._outputs.schemas:
            self._outputs.check(name, result, len(memoryview(raw)))
        return result

    def start_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = DEFAULT,
        check: bool = True,
        meta: Mapping[str, Any] | None = None,
        idempotent: bool | None = None,
        **others: Never,
    ) -> RunningCall:
        """Call a tool whose progress is an asynchronous iterator. Options as for `call_tool`.

        async with client.start_tool("import", {"path": "data.csv"}) as call:
            async for report in call:
                print(report.progress, report.total)
            result = await call
        """
        from .running_call import RunningCall

        check_call("start_tool", name, others)
        return RunningCall(
            lambda progress: self.call_tool(
                name,
                arguments,
                timeout=timeout,
                progress=progress,
                check=check,
                meta=meta,
                idempotent=idempotent,
            )
        )

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
            if not await self._may_help(error):
                raise
        except (TypeError, UnicodeEncodeError) as error:
            problem = unencodable(params["name"], params["arguments"])
            if problem:
                raise (TypeError if isinstance(error, TypeError) else ValueError)(problem) from error
            raise
        return await self._request("tools/call", params, timeout, progress, idempotent)

    async def _may_help(self, error: ServerError) -> bool:
        """Do what the refusal of a call asks for. Returns whether to send the call again."""
        if error.code == HEADER_MISMATCH:
            # The tool repeats arguments in headers that this client does not know, or that have changed.
            await self.tools(fresh=True)
            return True
        return False

    async def read(self, uri: str, *, timeout: float | None = DEFAULT, fresh: bool = False) -> list[Contents]:
        """Read a resource. Most have one part. `fresh` asks the server even if it allowed to reuse the last
        result.

        Raises:
            ServerError: the server has no such resource.
            ClientError: no answer.
        """
        check_text("the URI of a resource", uri, "write str(uri)")
        raw = await self._cache.read(
            uri, lambda: self._request("resources/read", {"uri": uri}, timeout), fresh
        )
        return decode_result(raw, ReadResult, "resources/read").contents

    async def prompt(self, name: str, /, *positional: Never, **arguments: str) -> PromptResult:
        """Get a prompt, filled with its arguments, which are texts.

        Raises:
            ServerError: the server has no such prompt, or an argument is missing.
            ClientError: no answer.
        """
        if positional:
            refuse_positional("prompt")
        for argument, value in arguments.items():
            check_text(f"argument {argument} of prompt {name}", value, "write str(…), or leave it out")
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
    @abstractmethod
    def _ping_method(self) -> str: ...


@cache
def _tool_result_decoder() -> Callable[[Raw], ToolResult]:
    return msgspec.json.Decoder(ToolResult).decode


def _prompt_ref(name: str) -> dict[str, str]:
    return {"type": "ref/prompt", "name": name}


def _copy(params: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if params is None else dict(params)
