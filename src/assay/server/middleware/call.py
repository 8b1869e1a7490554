"""What middleware gets: the request with its name and arguments decoded, and the way to the rest."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, Protocol, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from assay.model.definition import Implementation, InitializeResult
from assay.model.jsonrpc import RequestId
from assay.model.result import Cache, CompleteResult, PromptResult, ReadResult, ToolResult
from assay.protocol.codec import encode
from assay.protocol.middleware import Ending
from assay.protocol.scope import Scope
from assay.revisions.revision import Asking
from assay.server.calls.call import Call

Result = ToolResult | PromptResult | ReadResult | CompleteResult | InitializeResult | Mapping[str, object]
"""What a request is answered with. Lists and the results of custom methods are mappings."""

R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")


class Next(Protocol[R_co]):
    """Serves the request: calls the next middleware, and after the last one the method itself."""

    def __call__(self, call: MiddlewareCall, /) -> Coroutine[Any, Any, R_co]: ...


class MiddlewareFunction(Protocol[R]):
    """A coroutine function that returns the result of a request."""

    def __call__(self, call: MiddlewareCall, next: Next[R], /) -> Coroutine[Any, Any, R]: ...


class _Params(Struct):
    """The parameters of any method, as far as middleware reads them. The method itself validates them, so
    they stay raw: anyone can send a name that is a million lists."""

    name: Raw | UnsetType = UNSET
    uri: Raw | UnsetType = UNSET
    ref: Raw | UnsetType = UNSET
    arguments: Raw | UnsetType = UNSET
    input_responses: Raw | UnsetType = field(name="inputResponses", default=UNSET)
    request_state: Raw | UnsetType = field(name="requestState", default=UNSET)
    meta: Raw | UnsetType = field(name="_meta", default=UNSET)


_decode_params: Final = msgspec.json.Decoder(_Params).decode
_decode_members: Final = msgspec.json.Decoder(dict[str, Raw]).decode
WITH_ARGUMENTS: Final = frozenset({"tools/call", "prompts/get"})
"""Methods whose arguments are one of their parameters. Those of others are the parameters themselves."""
EMPTY: Final = Raw(b"{}")
BOUND_TO: Final[Mapping[str, Callable[[_Params], Raw | None]]] = {
    "tools/call": lambda params: EMPTY if isinstance(params.arguments, UnsetType) else params.arguments,
    "prompts/get": lambda params: None if isinstance(params.arguments, UnsetType) else params.arguments,
    "resources/read": lambda params: None,
}
"""What questions belong to besides the name, for the methods that may be answered with questions."""
NAMED_BY: Final = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "resources/subscribe": "uri",
    "resources/unsubscribe": "uri",
}
"""The parameter that names what a request is about."""


class MiddlewareCall:
    """A request on its way through middleware.

    Arguments are decoded when they are read, and once. They are as the client sent them: the tool validates
    them later.
    """

    __slots__ = ("_arguments", "_params", "_raw", "method", "server_call")

    def __init__(self, method: str, call: Call, raw: Raw | None = None) -> None:
        self.method = method
        """The method, such as `tools/call`."""
        self.server_call = call
        """The call as the server sees it; not public."""
        self._raw = call.params if raw is None else raw
        self._params: _Params | None = None
        self._arguments: dict[str, object] | None = None

    @property
    def name(self) -> str | None:
        """The name of the tool or prompt, or the URI of the resource; None for other methods."""
        parameter = NAMED_BY.get(self.method)
        if parameter is not None:
            return _text(getattr(self._read(), parameter))
        return _name_of_reference(self._read().ref) if self.method == "completion/complete" else None

    @property
    def arguments(self) -> Mapping[str, object]:
        """The arguments of a tool or prompt; for other methods, their parameters without `_meta`. Change them
        with `replace`."""
        if self._arguments is None:
            own = self.method in WITH_ARGUMENTS
            raw = self._read().arguments if own else self._raw
            decoded = {} if isinstance(raw, UnsetType) else _decode(raw)
            self._arguments = decoded if own else _without_meta(decoded)
        return self._arguments

    def replace(self, *, arguments: Mapping[str, object]) -> MiddlewareCall:
        """The same request with other arguments: `await next(call.replace(arguments={...}))`.

        Raises:
            TypeError: they are not JSON values.
        """
        members = _decode_members(self._raw)
        if self.method in WITH_ARGUMENTS:
            members["arguments"] = Raw(encode(dict(arguments)))
        else:
            meta = {name: value for name, value in members.items() if name == "_meta"}
            members = {name: Raw(encode(value)) for name, value in arguments.items()} | meta
        return MiddlewareCall(self.method, self.server_call, Raw(encode(members)))

    @property
    def params(self) -> Raw:
        """The parameters as JSON."""
        return self._raw

    @property
    def meta(self) -> Mapping[str, object]:
        """The `_meta` object of the request."""
        meta = self._read().meta
        return {} if isinstance(meta, UnsetType) else _decode(meta)

    @property
    def request_id(self) -> RequestId:
        """The JSON-RPC id of the request."""
        return self.server_call.id

    @property
    def principal(self) -> object:
        """The authenticated caller; None without authentication."""
        return self.server_call.scope.principal

    @property
    def scope(self) -> Scope:
        """How the request arrived: transport, headers, scopes, and the host's `state`."""
        return self.server_call.scope

    @property
    def revision(self) -> str:
        """The protocol revision of the request, as a date."""
        return self.server_call.peer.revision.date

    @property
    def client(self) -> Implementation | None:
        """Name and version of the client; None if it never sent them."""
        return self.server_call.peer.client

    def allow_questions(self) -> None:
        """Read the answers that came with the request, in revisions where a question needs a retry. Otherwise
        the method does so later, and binds them to the same parameters. `Context.of` does this."""
        call, name = self.server_call, self.name
        if call.peer.revision.asking is not Asking.BY_RETRY or call.retry_binding is not None:
            return
        if name is None or self.method not in BOUND_TO:
            return
        params = self._read()
        call.retry_binding = (self.method, name, BOUND_TO[self.method](params))
        state = _text(params.request_state)
        if params.input_responses is not UNSET or state is not None:
            call.open_round_trips().resume(params.input_responses, UNSET if state is None else state)

    @property
    def cache_hint(self) -> Cache:
        """How long the result may be reused, and by whom. Known when `next` has returned."""
        return self.server_call.cache_hint

    def mark_private(self) -> None:
        """State that the result depends on the caller, so that no cache shares it between callers."""
        self.server_call.private = True

    def ending_of(self, error: BaseException) -> Ending:
        """What an exception of `next` means: a failure, a cancellation, or a question to the client. Call
        this where it was caught, and raise it again unless it is a failure."""
        return self.server_call.ending_of(error)

    def _read(self) -> _Params:
        if self._params is None:
            try:
                self._params = _decode_params(self._raw)
            except (msgspec.DecodeError, RecursionError):
                self._params = _Params()  # the method reports what is wrong
        return self._params


def _decode(raw: Raw) -> dict[str, object]:
    try:
        decoded = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}


def _text(raw: Raw | UnsetType) -> str | None:
    """The text that a parameter is; None for anything else."""
    if isinstance(raw, UnsetType) or memoryview(raw)[0] != ord('"'):
        return None
    return msgspec.json.decode(raw, type=str)


def _name_of_reference(raw: Raw | UnsetType) -> str | None:
    """The prompt or template that a completion is for."""
    if isinstance(raw, UnsetType) or memoryview(raw)[0] != ord("{"):
        return None
    reference = _decode_params(raw)
    return _text(reference.name) or _text(reference.uri)


def _without_meta(members: dict[str, object]) -> dict[str, object]:
    members.pop("_meta", None)
    return members
