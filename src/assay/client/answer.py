"""Answers the server's questions with the user's handlers.

The same handler serves both ways of asking: a request from the server, and a result that asks for input.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Raw, Struct, UnsetType

from assay.model.answer import ElicitAnswer, Elicited, Root, RootsAnswer, Sampled
from assay.model.content import Text
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from assay.model.question import ElicitationRequest, SamplingRequest

from .hint import check_function

T = TypeVar("T")
if TYPE_CHECKING:  # evaluating them would take longer than the rest of this module
    SamplingHandler = Callable[[SamplingRequest], Awaitable[Sampled | str] | Sampled | str]
    ElicitationReply = Elicited[Any] | Mapping[str, Any] | None
    ElicitationHandler = Callable[[ElicitationRequest], Awaitable[ElicitationReply] | ElicitationReply]
    RootItem = Root | str | os.PathLike[str]
    Roots = Sequence[RootItem] | Callable[[], Awaitable[Sequence[RootItem]] | Sequence[RootItem]]


class Handlers(Struct, frozen=True):
    """What the user passed to `Client`."""

    sampling: SamplingHandler | None = None
    elicitation: ElicitationHandler | None = None
    roots: Roots | None = None
    further: Mapping[str, Any] = {}
    """Capabilities that the user declares."""

    def capabilities(self) -> dict[str, Any]:
        """What the client declares: that which it can answer, and what the user says."""
        capabilities: dict[str, Any] = {}
        if self.sampling is not None:
            capabilities["sampling"] = {}
        if self.elicitation is not None:
            capabilities["elicitation"] = {"form": {}, "url": {}}
        if self.roots is not None:
            capabilities["roots"] = {}
        return {**capabilities, **self.further}

    def _require(self, capability: str, part: str) -> None:
        """A question that was not declared MUST be refused (client/sampling, client/elicitation)."""
        if part not in self.capabilities().get(capability, {}):
            raise RpcError(INVALID_PARAMS, f"the client does not support {capability}.{part}")

    async def answer(self, method: str, params: Raw | UnsetType) -> Any:
        """The result for a question.

        Raises:
            RpcError: it has no handler, or its parameters are invalid.
        """
        reply = _ANSWERS.get(method)
        if reply is None:
            raise RpcError(METHOD_NOT_FOUND, f"method not found: {method}")
        result = await reply(self, Raw(b"{}") if isinstance(params, UnsetType) else params)
        return _without_nulls(msgspec.to_builtins(result))

    async def _sample(self, params: Raw) -> Sampled:
        if self.sampling is None:
            raise _unhandled("sampling")
        request = _decode(params, SamplingRequest)
        if request.tools is not None or request.tool_choice is not None:
            self._require("sampling", "tools")
        reply = await _result(self.sampling(request))
        if isinstance(reply, str):
            return Sampled("assistant", Text(reply), "unknown", "endTurn")
        if not isinstance(reply, Sampled):
            raise TypeError(f"the sampling handler must return Sampled or str, not {type(reply).__name__}")
        return reply

    async def _elicit(self, params: Raw) -> ElicitAnswer:
        if self.elicitation is None:
            raise _unhandled("elicitation")
        request = _decode(params, ElicitationRequest)
        if request.mode == "url":
            self._require("elicitation", "url")
        reply = await _result(self.elicitation(request))
        if reply is None:
            return ElicitAnswer("decline")
        if isinstance(reply, Mapping):
            return ElicitAnswer("accept", dict(reply))
        if not isinstance(reply, Elicited):
            raise TypeError(
                f"the elicitation handler must return Elicited, a dict or None, not {type(reply).__name__}"
            )
        content = msgspec.to_builtins(reply.content) if reply.content is not None else None
        return ElicitAnswer(reply.action, content)

    async def _list_roots(self, params: Raw) -> RootsAnswer:
        if self.roots is None:
            raise _unhandled("roots")
        roots = await _result(self.roots()) if callable(self.roots) else self.roots
        problem = "the roots function must return a list of Root, str or Path"
        return RootsAnswer([_read_root(item) for item in _check_roots(roots, problem)])


_ANSWERS: Mapping[str, Callable[[Handlers, Raw], Awaitable[Any]]] = {
    "sampling/createMessage": Handlers._sample,
    "elicitation/create": Handlers._elicit,
    "roots/list": Handlers._list_roots,
}


def _unhandled(option: str) -> RpcError:
    return RpcError(METHOD_NOT_FOUND, f"the client has no handler for it: pass {option}= to Client")


async def _result(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _without_nulls(result: Any) -> Any:
    """No schema allows an explicit null for a field that is absent."""
    if isinstance(result, dict):
        return {name: _without_nulls(value) for name, value in result.items() if value is not None}
    if isinstance(result, list):
        return [_without_nulls(item) for item in result]
    if isinstance(result, float) and not isfinite(result):
        raise ValueError(f"the handler returned {result}, which JSON cannot express")
    return result


def _decode(params: Raw, expected: type[T]) -> T:
    try:
        return msgspec.json.decode(params, type=expected)
    except (msgspec.DecodeError, RecursionError) as error:
        raise RpcError(INVALID_PARAMS, f"invalid params: {error}") from None


def _read_root(item: RootItem) -> Root:
    if isinstance(item, Root):
        return item
    if isinstance(item, str) and "://" in item:
        return Root(item)
    from pathlib import Path

    path = Path(item).absolute()
    return Root(path.as_uri(), path.name or None)


def read_roots(roots: Roots | None) -> Roots | None:
    """
    Raises:
        TypeError: neither a list nor a function.
    """
    if roots is None:
        return None
    if callable(roots):
        check_function("roots", roots, 0)
        return roots
    return _check_roots(roots, "roots must be a list of Root, str or Path, or a function that returns one")


def _check_roots(roots: Any, problem: str) -> list[RootItem]:
    if isinstance(roots, str) or not isinstance(roots, Iterable):
        raise TypeError(problem)
    checked = list(roots)
    if not all(isinstance(item, Root | str | os.PathLike) for item in checked):
        raise TypeError(problem)
    return checked
