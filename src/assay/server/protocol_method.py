"""The server's methods: one function each, and the table that names them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from assay.model.definition import InitializeParams, InitializeResult
from assay.model.error import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from assay.model.jsonrpc import CallParams
from assay.model.result import CompleteResult
from assay.protocol.codec import decode_params
from assay.protocol.declaration import SUPPORTED
from assay.protocol.http.mirror import check_name
from assay.protocol.lifecycle import Input
from assay.protocol.session import Session
from assay.revisions.registry import negotiate
from assay.revisions.revision import Asking

from .call import Call
from .context import Level
from .failure import ReadFailed
from .listen_stream import ListenFilter, listen
from .registry import PagedRegistry
from .round_trip import open_round_trips

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
    notifications: ListenFilter


class _LevelParams(Struct):
    level: Level


class _Reference(Struct):
    type: Literal["ref/prompt", "ref/resource"]
    name: str | None = None
    uri: str | None = None


class _Argument(Struct):
    name: str
    value: str


class _Settled(Struct):
    arguments: dict[str, str] | None = None


class _CompleteParams(Struct):
    ref: _Reference
    argument: _Argument
    context: _Settled | None = None


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


def _begin_round_trips(call: Call, method: str, target: str, arguments: Any, params: _RetryParams) -> None:
    """Let a handler ask, where that is done by retry, and take up what the client has answered already."""
    if call.peer.revision.asking is Asking.BY_RETRY:
        call.retry_binding = (method, target, arguments)
        if params.input_responses is not UNSET or params.request_state is not UNSET:
            open_round_trips(call).resume(params.input_responses, params.request_state)


async def initialize(call: Call) -> InitializeResult:
    params: InitializeParams = decode_params(call.params, _initialize_params)
    revision = negotiate(params.protocol_version)
    session, server = call.session, call.server
    if session is not None:
        session.receive(Input.INITIALIZE)
        session.agree(revision, params.capabilities, params.client_info)
    capabilities = server.declaration(revision, call)
    return InitializeResult(revision.date, capabilities, server.info, server.instructions)


async def ping(call: Call) -> dict[str, Any]:
    return EMPTY


async def discover(call: Call) -> dict[str, Any]:
    server = call.server
    declared = server.declaration(call.peer.revision, call)
    found: dict[str, Any] = {"supportedVersions": SUPPORTED, "capabilities": declared}
    return found if server.instructions is None else found | {"instructions": server.instructions}


def open_listener(call: Call) -> Awaitable[dict[str, Any]]:
    params: _ListenParams = decode_params(call.params, _listen_params)
    return listen(call, params.notifications)


def _page(call: Call, registry: PagedRegistry[Any], key: str) -> dict[str, Any]:
    call.private |= registry.is_scoped
    cursor = decode_params(call.params, _list_params).cursor
    definitions, following = registry.page(cursor, call.scope.scopes)
    return {key: definitions} if following is None else {key: definitions, "nextCursor": following}


async def list_tools(call: Call) -> dict[str, Any]:
    cursor = decode_params(call.params, _list_params).cursor
    registry = call.server.tools.registry
    call.private |= registry.is_scoped
    tools, following = registry.components(cursor, call.scope.scopes)
    definitions = [tool.definition_for(call.peer.revision) for tool in tools]
    return {"tools": definitions} if following is None else {"tools": definitions, "nextCursor": following}


def call_tool(call: Call) -> Awaitable[Any]:
    decoded = call.decoded_params
    params: CallParams = decoded if type(decoded) is CallParams else decode_params(call.params, _call_params)
    if call.scope.mirrors is not None:
        check_name(call.scope.mirrors, params.name)
    tools = call.server.tools
    tool = tools.registry.by_key.get(params.name) or tools.find(params.name)
    if tool.scopes:
        call.require(tool.scopes)
    if call.peer.revision.asking is Asking.BY_RETRY:
        call.retry_binding = ("tools/call", params.name, params.arguments)
        if params.input_responses is not UNSET or params.request_state is not UNSET:
            open_round_trips(call).resume(params.input_responses, params.request_state)
    return tool.call(params.arguments, call)


async def list_resources(call: Call) -> dict[str, Any]:
    return _page(call, call.server.resources.registry, "resources")


async def list_templates(call: Call) -> dict[str, Any]:
    return _page(call, call.server.resources.template_registry, "resourceTemplates")


async def read_resource(call: Call) -> Any:
    params: _UriParams = decode_params(call.params, _uri_params)
    uri = params.uri
    if call.scope.mirrors is not None:
        check_name(call.scope.mirrors, uri)
    _begin_round_trips(call, "resources/read", uri, None, params)
    try:
        return await call.server.resources.read_for(uri, call)
    except Exception as error:
        raise ReadFailed(uri[:256], error) from error


async def subscribe(call: Call) -> dict[str, Any]:
    uri = decode_params(call.params, _uri_params).uri
    session = _session(call, "subscriptions")
    await call.server.resources.find_for(uri, call)
    if uri not in session.subscriptions and len(session.subscriptions) >= call.server.limits.subscriptions:
        raise RpcError(INVALID_PARAMS, f"too many subscriptions: limit {call.server.limits.subscriptions}")
    session.subscriptions.add(uri)
    session.changed = True
    return EMPTY


async def unsubscribe(call: Call) -> dict[str, Any]:
    uri = decode_params(call.params, _uri_params).uri
    session = _session(call, "subscriptions")
    session.subscriptions.discard(uri)
    session.changed = True
    return EMPTY


async def list_prompts(call: Call) -> dict[str, Any]:
    return _page(call, call.server.prompts.registry, "prompts")


async def get_prompt(call: Call) -> Any:
    params: _GetParams = decode_params(call.params, _get_params)
    if call.scope.mirrors is not None:
        check_name(call.scope.mirrors, params.name)
    prompt = call.server.prompts.find(params.name)
    call.require(prompt.scopes)
    _begin_round_trips(call, "prompts/get", params.name, params.arguments, params)
    return await prompt.get(params.arguments or {}, call)


async def complete(call: Call) -> CompleteResult:
    params: _CompleteParams = decode_params(call.params, _complete_params)
    target = params.ref.name if params.ref.type == "ref/prompt" else params.ref.uri
    if target is None:
        raise RpcError(INVALID_PARAMS, "ref needs a name (ref/prompt) or a uri (ref/resource)")
    settled = (params.context.arguments if params.context else None) or {}
    argument = params.argument
    found = await call.server.completions.complete(target, argument.name, argument.value, settled, call)
    return CompleteResult(found)


async def set_level(call: Call) -> dict[str, Any]:
    level = decode_params(call.params, _level_params).level
    session = _session(call, "a log level")
    session.peer.log_level = level
    session.changed = True
    return EMPTY


def _session(call: Call, what: str) -> Session:
    if call.session is None:
        raise RpcError(INTERNAL_ERROR, f"there is no session to keep {what} in")
    return call.session


class Method(NamedTuple):
    serve: Callable[[Call], Awaitable[Any]]
    feature: str | None = None


METHODS: Final[Mapping[str, Method]] = {
    "initialize": Method(initialize),
    "server/discover": Method(discover),
    "subscriptions/listen": Method(open_listener),
    "ping": Method(ping),
    "tools/list": Method(list_tools, "tools"),
    "tools/call": Method(call_tool, "tools"),
    "resources/list": Method(list_resources, "resources"),
    "resources/templates/list": Method(list_templates, "resources"),
    "resources/read": Method(read_resource, "resources"),
    "resources/subscribe": Method(subscribe, "resources.subscribe"),
    "resources/unsubscribe": Method(unsubscribe, "resources.subscribe"),
    "prompts/list": Method(list_prompts, "prompts"),
    "prompts/get": Method(get_prompt, "prompts"),
    "completion/complete": Method(complete, "completions"),
    "logging/setLevel": Method(set_level, "logging"),
}
