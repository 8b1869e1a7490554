"""Answers from memory, for as long as the server's own cache hints allow."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from time import monotonic
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from assay.model.error import RegistrationError
from assay.model.listing import PromptList, ResourceList, TemplateList, ToolList
from assay.model.result import Cache, ReadResult, ToolResult
from assay.protocol.codec import encode
from assay.protocol.http.mirror import check_name
from assay.protocol.middleware import Component, Host, Middleware
from assay.server.handlers.header import check_headers, mirrored_parameters
from assay.server.middleware.call import MiddlewareCall, Next, Result

from .cache_store import OVERHEAD, CacheStore, Entry
from .log import logger

NO_TOOLS: Final[Mapping[str, Cache]] = MappingProxyType({})
READERS: Final[Mapping[str, Callable[[bytes], Any]]] = {
    method: msgspec.json.Decoder(kind).decode
    for method, kind in {
        "tools/call": ToolResult,
        "resources/read": ReadResult,
        "tools/list": ToolList,
        "prompts/list": PromptList,
        "resources/list": ResourceList,
        "resources/templates/list": TemplateList,
    }.items()
}
"""The methods whose results may be cached. A cached result is decoded anew for each request: what other
middleware does to it stays there."""


class _Params(Struct, rename="camel"):
    """What the result of a cacheable method depends on. Arguments are compared as the client wrote them, so
    that no two meanings of one text can be confused."""

    name: str = ""
    uri: str = ""
    cursor: str | None = None
    arguments: Raw = Raw(b"{}")
    input_responses: Raw | UnsetType = UNSET
    request_state: Any = UNSET


_decode: Final = msgspec.json.Decoder(_Params).decode


class Key(NamedTuple):
    method: str
    revision: str
    target: tuple[str, str, str | None]
    arguments: bytes
    extra: Hashable
    """What the author adds."""
    caller: Hashable
    """None for results that all callers share."""


class _CachedTool(NamedTuple):
    tool: Component
    hint: Cache | None
    mirrored: Any


class _Query(NamedTuple):
    params: _Params
    tool: _CachedTool | None
    shared: Key
    private: Key | None
    """The key of a result for this caller only; None if it cannot be distinguished from others."""


class ResponseCache(Middleware):
    """Answers requests from memory: lists and resources as their `Cache` hints allow, and tools that opt in.

    A `private` result is only used for the principal that it was made for, with the same scopes; without a
    principal it is not stored. Results are dropped when something is registered, and those of a resource with
    `server.resource_updated`.

    Args:
        tools: How long the results of these tools may be used. They must be marked as read-only or
            idempotent.
        entries: How many results are stored.
        max_bytes: How many bytes they may take.
        key: Returns what the results depend on besides principal, revision and parameters.
        clock: Returns seconds.
    """

    def __init__(
        self,
        *,
        tools: Mapping[str, Cache] = NO_TOOLS,
        entries: int = 1000,
        max_bytes: int = 16 * 1024 * 1024,
        key: Callable[[MiddlewareCall], Hashable] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """
        Raises:
            RegistrationError: a number is not positive, or `tools` does not map names to `Cache`.
        """
        if entries < 1 or max_bytes < 1:
            raise RegistrationError(
                f"ResponseCache: entries and max_bytes must be positive: {entries}, {max_bytes}"
            )
        if not all(isinstance(hint, Cache) for hint in tools.values()):
            raise RegistrationError('ResponseCache: write tools={"search": Cache(60_000, "private")}')
        self._tools = dict(tools)
        self._key = key
        self._clock = clock
        self._store = CacheStore(entries, max_bytes)
        self._known: dict[str, _CachedTool] = {}

    def join(self, server: Host, /) -> None:
        """
        Raises:
            RegistrationError: a tool is neither read-only nor idempotent.
        """
        self._host = server
        for name in self._tools:
            tool = server.tools.registry.get(name)
            if tool is not None and not is_repeatable(tool):
                raise RegistrationError(f"ResponseCache: {problem_of(name)}")

    def changed(self, uri: str | None, /) -> None:
        if uri is None:
            self._store.remove(lambda key: True)
        else:
            self._store.remove(lambda key: isinstance(key, Key) and key.target[1] == uri)

    async def __call__(self, call: MiddlewareCall, next: Next[Result]) -> Result:
        query = self._query(call)
        if query is None:
            return await next(call)
        now, generation = self._clock(), self._store.generation
        entry = self._find(query, now)
        if entry is not None:
            _check_headers(call, query)
            return _reuse(call, entry, now)
        result = await next(call)
        if _is_repeatable_result(call, result):
            self._put(query, result, _hint_of(call, query), now, generation)
        return result

    def _query(self, call: MiddlewareCall) -> _Query | None:
        """What to look for; None if the result must not be cached."""
        params = _params_of(call) if call.method in READERS else None
        if params is None:
            return None
        tool = self._tool(params.name) if call.method == "tools/call" else None
        if call.method == "tools/call" and (tool is None or tool.hint is None):
            return None
        target = (params.name, params.uri, params.cursor)
        extra = None if self._key is None else self._key(call)
        shared = Key(call.method, call.revision, target, bytes(params.arguments), extra, None)
        caller = caller_of(call)
        return _Query(params, tool, shared, None if caller is None else shared._replace(caller=caller))

    def _find(self, query: _Query, now: float) -> Entry | None:
        shared = self._store.get(query.shared, now)
        if shared is not None or query.private is None:
            return shared
        return self._store.get(query.private, now)

    def _put(self, query: _Query, result: Result, hint: Cache, now: float, generation: int) -> None:
        key = query.shared if hint.cache_scope == "public" else query.private
        if key is None or not hint.ttl_ms:
            return
        try:
            data = encode(result)
        except (TypeError, ValueError, RecursionError):
            return  # the answer reports it
        size = len(data) + len(key.arguments) + sum(len(part or "") for part in key.target) + OVERHEAD
        # From the time of the request: what the handler has read may be that old.
        self._store.put(key, Entry(data, now + hint.ttl_ms / 1000, hint, size), generation)

    def _tool(self, name: str) -> _CachedTool | None:
        if name not in self._tools:
            return None
        tool = self._host.tools.registry.get(name)
        known = self._known.get(name)
        if tool is None or (known is not None and known.tool is tool):
            return known if tool is not None else None
        hint = self._tools[name] if is_repeatable(tool) else None
        if hint is None:
            logger.warning("results are not cached: %s", problem_of(name))
        mirrored = mirrored_parameters(tool.definition.input_schema, name)
        known = self._known[name] = _CachedTool(tool, hint, mirrored)
        return known


def is_repeatable(tool: Component) -> bool:
    hints = tool.definition.annotations
    return hints is not None and (hints.read_only_hint is True or hints.idempotent_hint is True)


def problem_of(name: str) -> str:
    fix = '@server.tool(annotations={"readOnlyHint": True})'
    return f"tool {name} is not marked as read-only or idempotent: write {fix}, or do not cache it"


def caller_of(call: MiddlewareCall) -> Hashable:
    """Whom a private result belongs to. The type is part of it: 1 and True are equal."""
    principal = call.principal
    try:
        hash(principal)
    except TypeError:
        return None  # its text may leave out what distinguishes it from others
    return None if principal is None else (type(principal), principal, call.scope.scopes)


def _params_of(call: MiddlewareCall) -> _Params | None:
    try:
        params = _decode(call.params)
    except (msgspec.DecodeError, RecursionError):
        return None  # the method reports what is wrong
    is_retry = params.input_responses is not UNSET or params.request_state is not UNSET
    return None if is_retry else params


def _is_repeatable_result(call: MiddlewareCall, result: Result) -> bool:
    """Whether the same request would have the same result: without effects or answers of the client."""
    inner = call.server_call
    is_error = isinstance(result, ToolResult) and result.is_error
    return not (inner.effects or inner.has_asked or is_error)


def _hint_of(call: MiddlewareCall, query: _Query) -> Cache:
    if query.tool is None or query.tool.hint is None:
        return call.cache_hint
    return Cache(query.tool.hint.ttl_ms, "private") if call.server_call.private else query.tool.hint


def _reuse(call: MiddlewareCall, entry: Entry, now: float) -> Result:
    """The cached result. Clients may reuse it for the time that remains."""
    remaining = max(int((entry.expires - now) * 1000), 0)
    call.server_call.cache = Cache(remaining, entry.hint.cache_scope)
    call.server_call.private |= entry.hint.cache_scope == "private"
    result: Result = READERS[call.method](entry.data)
    return result


def _check_headers(call: MiddlewareCall, query: _Query) -> None:
    """What the method checks itself when it is called: a proxy may have authorized the request by these.

    Raises:
        RpcError: a header differs from the body.
    """
    scope, params, tool = call.scope, query.params, query.tool
    if scope.mirrors is not None and (params.name or params.uri):
        check_name(scope.mirrors, params.name or params.uri)
    rules = call.server_call.peer.revision.http
    if tool is not None and tool.mirrored and rules.mirrored is not None and scope.transport == "http":
        check_headers(tool.mirrored, params.arguments, scope.raw_headers)
