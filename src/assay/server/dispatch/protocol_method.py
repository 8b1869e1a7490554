"""The methods of the protocol: one function each, and the table that names them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, Protocol

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from assay.model.definition import Implementation, InitializeParams, InitializeResult
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from assay.model.jsonrpc import CallParams
from assay.model.result import CompleteResult
from assay.protocol.codec import decode_params
from assay.protocol.declaration import Level, unsupported
from assay.protocol.declared_client import DeclaredClient
from assay.protocol.http.mirror import check_name
from assay.protocol.lifecycle import Input
from assay.protocol.session import Session
from assay.revisions.revision import Asking
from assay.revisions.served import Served
from assay.server.calls.call import Call
from assay.server.components.component import Components
from assay.server.components.registry import PagedRegistry

from .failure import ReadFailed
from .listen_stream import ListenFilter, ListenMethod
from .notifier import ChangeNotifier

EMPTY: Final[dict[str, Any]] = {}


class _ListParams(Struct):
    cursor: str | None = None


class _RetryParams(Struct, rename="camel", kw_only=True):
    """What a client adds when it sends a request again with answers."""

    input_responses: Raw | UnsetType = UNSET
    request_state: str | UnsetType = UNSET


class _GetParams(_RetryParams):
    name: str
    arguments: dict[str, str] | None = None


class _UriParams(_RetryParams):
    uri: str


class _ListenParams(Struct):
    notifications: Raw


class _LevelParams(Struct):
    level: Level


class _Reference(Struct):
    type: Literal["ref/prompt", "ref/resource"]
    name: str | None = None
    uri: str | None = None


class _Argument(Struct):
    name: str
    value: str


class _CompletionContext(Struct):
    arguments: dict[str, str] | None = None


class _CompleteParams(Struct):
    ref: _Reference
    argument: _Argument
    context: _CompletionContext | None = None


def _decoder(params: type[Any]) -> Callable[[Raw], Any]:
    return msgspec.json.Decoder(params).decode


_initialize_params = _decoder(InitializeParams)
_list_params = _decoder(_ListParams)
_call_params = _decoder(CallParams)
_get_params = _decoder(_GetParams)
_uri_params = _decoder(_UriParams)
_level_params = _decoder(_LevelParams)
_complete_params = _decoder(_CompleteParams)
_listen_params = _decoder(_ListenParams)
_listen_filter = _decoder(ListenFilter)


class Introduction(Protocol):
    """What `initialize` and `server/discover` say about a server; may change while it runs."""

    info: Implementation
    instructions: str | None

    @property
    def served(self) -> Served: ...


class ProtocolMethods:
    """Serves the protocol's methods from the components of one server."""

    def __init__(
        self,
        components: Components,
        notifier: ChangeNotifier,
        introduction: Introduction,
        start: Callable[[], None],
    ) -> None:
        self._tools = components.tools
        self._tools_by_name = components.tools.registry.by_key
        self._resources = components.resources
        self._prompts = components.prompts
        self._completions = components.completions
        self._introduction = introduction
        self._listen = ListenMethod(notifier, components.resources, start)

    async def initialize(self, call: Call) -> InitializeResult:
        params: InitializeParams = decode_params(call.params, _initialize_params)
        server = self._introduction
        revision = server.served.negotiate(params.protocol_version)
        if revision is None:
            raise unsupported(params.protocol_version, server.served)
        session = call.session
        if session is not None:
            session.receive(Input.INITIALIZE)
            declared = DeclaredClient.of(params.capabilities, params.client_info)
            session.agree(revision, declared.bounded(call.services.limits.client_bytes))
        return InitializeResult(revision.date, call.declaration(revision), server.info, server.instructions)

    async def ping(self, call: Call) -> dict[str, Any]:
        return EMPTY

    async def discover(self, call: Call) -> dict[str, Any]:
        capabilities = call.declaration(call.peer.revision)
        versions = self._introduction.served.newest_first
        result: dict[str, Any] = {"supportedVersions": versions, "capabilities": capabilities}
        instructions = self._introduction.instructions
        return result if instructions is None else result | {"instructions": instructions}

    def listen(self, call: Call) -> Awaitable[dict[str, Any]]:
        params: _ListenParams = decode_params(call.params, _listen_params)
        requested: ListenFilter = decode_params(params.notifications, _listen_filter)
        return self._listen.serve(call, requested, params.notifications)

    async def list_tools(self, call: Call) -> dict[str, Any]:
        cursor = decode_params(call.params, _list_params).cursor
        registry = self._tools.registry
        call.private |= registry.is_scoped
        tools, next_cursor = registry.components(cursor, call.scope.scopes)
        revision = call.peer.revision
        definitions = [tool.definition_for(revision) for tool in tools if tool.is_callable_in(revision)]
        return _list_result("tools", definitions, next_cursor)

    # The hot path: a plain function that returns the tool's coroutine saves one coroutine per call, and what
    # `_begin_round_trips` does is repeated in place.
    def call_tool(self, call: Call) -> Awaitable[Any]:
        decoded = call.decoded_params
        params: CallParams = (
            decoded if type(decoded) is CallParams else decode_params(call.params, _call_params)
        )
        if call.scope.mirrors is not None:
            check_name(call.scope.mirrors, params.name)
        tool = self._tools_by_name.get(params.name) or self._tools.find(params.name)
        if tool.scopes:
            call.require(tool.scopes)
        if call.peer.revision.asking is Asking.BY_RETRY:
            call.retry_binding = ("tools/call", params.name, params.arguments)
            if params.input_responses is not UNSET or params.request_state is not UNSET:
                call.open_round_trips().resume(params.input_responses, params.request_state)
        return tool.call(params.arguments, call)

    async def list_resources(self, call: Call) -> dict[str, Any]:
        return _page(call, self._resources.registry, "resources")

    async def list_templates(self, call: Call) -> dict[str, Any]:
        return _page(call, self._resources.template_registry, "resourceTemplates")

    async def read_resource(self, call: Call) -> Any:
        params: _UriParams = decode_params(call.params, _uri_params)
        uri = params.uri
        if call.scope.mirrors is not None:
            check_name(call.scope.mirrors, uri)
        _begin_round_trips(call, "resources/read", uri, None, params)
        try:
            return await self._resources.read_for(uri, call)
        except Exception as error:
            raise ReadFailed(uri[:256], error) from error

    async def subscribe(self, call: Call) -> dict[str, Any]:
        uri = decode_params(call.params, _uri_params).uri
        session = _session(call, "subscriptions")
        await self._resources.find_for(uri, call)
        session.subscribe(uri, call.services.limits)
        return EMPTY

    async def unsubscribe(self, call: Call) -> dict[str, Any]:
        uri = decode_params(call.params, _uri_params).uri
        _session(call, "subscriptions").unsubscribe(uri)
        return EMPTY

    async def list_prompts(self, call: Call) -> dict[str, Any]:
        return _page(call, self._prompts.registry, "prompts")

    async def get_prompt(self, call: Call) -> Any:
        params: _GetParams = decode_params(call.params, _get_params)
        if call.scope.mirrors is not None:
            check_name(call.scope.mirrors, params.name)
        prompt = self._prompts.find(params.name)
        call.require(prompt.scopes)
        _begin_round_trips(call, "prompts/get", params.name, params.arguments, params)
        return await prompt.get(params.arguments or {}, call)

    async def complete(self, call: Call) -> CompleteResult:
        params: _CompleteParams = decode_params(call.params, _complete_params)
        target = params.ref.name if params.ref.type == "ref/prompt" else params.ref.uri
        if target is None:
            raise RpcError(INVALID_PARAMS, "ref needs a name (ref/prompt) or a uri (ref/resource)")
        others = (params.context.arguments if params.context else None) or {}
        argument = params.argument
        return CompleteResult(
            await self._completions.complete(target, argument.name, argument.value, others, call)
        )

    async def set_level(self, call: Call) -> dict[str, Any]:
        level = decode_params(call.params, _level_params).level
        session = _session(call, "a log level")
        session.peer.log_level = level
        session.changed = True
        return EMPTY


def _begin_round_trips(call: Call, method: str, target: str, arguments: Any, params: _RetryParams) -> None:
    """Allow questions, in revisions where they need a retry, and read the answers that came with this one."""
    if call.peer.revision.asking is Asking.BY_RETRY:
        call.retry_binding = (method, target, arguments)
        if params.input_responses is not UNSET or params.request_state is not UNSET:
            call.open_round_trips().resume(params.input_responses, params.request_state)


def _page(call: Call, registry: PagedRegistry[Any], key: str) -> dict[str, Any]:
    call.private |= registry.is_scoped
    cursor = decode_params(call.params, _list_params).cursor
    definitions, next_cursor = registry.page(cursor, call.scope.scopes)
    return _list_result(key, definitions, next_cursor)


def _list_result(key: str, definitions: list[Any], next_cursor: str | None) -> dict[str, Any]:
    return {key: definitions} if next_cursor is None else {key: definitions, "nextCursor": next_cursor}


def _session(call: Call, content: str) -> Session:
    if call.session is None:
        raise RpcError(INTERNAL_ERROR, f"cannot store {content}: the request has no session")
    return call.session


class Method(NamedTuple):
    serve: Callable[[ProtocolMethods, Call], Awaitable[Any]]
    feature: str | None = None
    """The capability that the method belongs to."""


METHODS: Final[Mapping[str, Method]] = {
    "initialize": Method(ProtocolMethods.initialize),
    "server/discover": Method(ProtocolMethods.discover),
    "subscriptions/listen": Method(ProtocolMethods.listen),
    "ping": Method(ProtocolMethods.ping),
    "tools/list": Method(ProtocolMethods.list_tools, "tools"),
    "tools/call": Method(ProtocolMethods.call_tool, "tools"),
    "resources/list": Method(ProtocolMethods.list_resources, "resources"),
    "resources/templates/list": Method(ProtocolMethods.list_templates, "resources"),
    "resources/read": Method(ProtocolMethods.read_resource, "resources"),
    "resources/subscribe": Method(ProtocolMethods.subscribe, "resources.subscribe"),
    "resources/unsubscribe": Method(ProtocolMethods.unsubscribe, "resources.subscribe"),
    "prompts/list": Method(ProtocolMethods.list_prompts, "prompts"),
    "prompts/get": Method(ProtocolMethods.get_prompt, "prompts"),
    "completion/complete": Method(ProtocolMethods.complete, "completions"),
    "logging/setLevel": Method(ProtocolMethods.set_level, "logging"),
}
