"""Questions to the client: sampling, elicitation, roots, ping.

The revision decides how a question travels (`STRATEGIES`). The checks on questions
and answers are the same either way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from os import urandom
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Raw

from assay.model.answer import ElicitAnswer, Elicited, Root, RootsAnswer, Sampled
from assay.model.content import BLOCKS, Block, Text
from assay.model.error import AskError, Undeclared
from assay.model.jsonrpc import Notification, Request
from assay.model.result import InputRequest, Message
from assay.protocol.codec import encode
from assay.protocol.lifecycle import State
from assay.revisions.revision import Asking
from assay.server.results.shape import kind_of

from .call import Call
from .form import Form

T = TypeVar("T")
SAMPLED: Final = frozenset({"text", "image", "audio"})
"""Content types of a sampling message, where the revision has them."""


class AskOptions(NamedTuple):
    timeout: float | None = None
    key: str | None = None
    """Identifies the question across retries; by default questions are numbered."""


class Question(NamedTuple, Generic[T]):
    method: str
    params: Any
    read: Callable[[Raw], T]
    """Decodes an answer; raises `AskError` if it is invalid."""


async def ask_for_sample(
    call: Call,
    messages: str | Block | Message | Sequence[str | Block | Message],
    max_tokens: int,
    parameters: dict[str, Any],
    options: AskOptions,
) -> Sampled:
    declared = _require_capability(call, "sampling")
    offers_tools = bool({"tools", "tool_choice"} & {*parameters})
    if offers_tools and not (call.peer.revision.sampling_tools and declared.get("tools") is not None):
        raise _unsupported(
            call, {"sampling": {"tools": {}}}, "the client does not support sampling with tools"
        )
    items: list[Any] = list(messages) if isinstance(messages, list | tuple) else [messages]
    params = {"messages": [_sampling_message(item, call) for item in items], "maxTokens": max_tokens}
    params |= {_camel(name): value for name, value in parameters.items()}
    return await _ask(call, Question("sampling/createMessage", params, _reader(Sampled)), options)


async def ask_for_input(call: Call, message: str, form: Form, options: AskOptions) -> Elicited[Any]:
    _require_mode(call, "form")
    params: dict[str, Any] = {"message": message, "requestedSchema": form.schema_for(call.peer.revision)}

    def read(raw: Raw) -> Elicited[Any]:
        answer = _decode(raw, ElicitAnswer)
        return Elicited(answer.action, form.read(answer.content) if answer.action == "accept" else None)

    return await _ask(call, Question("elicitation/create", params, read), options)


async def ask_for_url(call: Call, message: str, url: str, options: AskOptions) -> Elicited[None]:
    _require_mode(call, "url")
    elicitation_id = urandom(16).hex() if call.peer.revision.elicitation_ids else None
    params = {"mode": "url", "message": message, "url": url}
    if elicitation_id is not None:
        params["elicitationId"] = elicitation_id

    def read(raw: Raw) -> Elicited[None]:
        return Elicited(_decode(raw, ElicitAnswer).action, None, elicitation_id)

    return await _ask(call, Question("elicitation/create", params, read), options)


async def ask_for_roots(call: Call, options: AskOptions) -> list[Root]:
    _require_capability(call, "roots")
    answer = await _ask(call, Question("roots/list", None, _reader(RootsAnswer)), options)
    return answer.roots


async def ask_for_ping(call: Call, options: AskOptions) -> None:
    if call.peer.revision.asking is not Asking.BY_REQUEST:
        raise AskError("the client's protocol revision has no ping")
    await _ask(call, Question("ping", None, _reader(dict[str, Any])), options)


def _sampling_message(message: str | Block | Message, call: Call) -> Any:
    if isinstance(message, str):
        message = Text(message)
    if isinstance(message, BLOCKS):
        message = Message("user", message)
    if isinstance(message, Message):
        _check_sampled(message.content, call)
    return message


def _check_sampled(block: Block, call: Call) -> None:
    kind = kind_of(block)
    if kind not in SAMPLED or kind not in call.peer.revision.content:
        raise AskError(f"the client's protocol revision cannot sample from {kind} content")


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _require_capability(call: Call, capability: str) -> dict[str, Any]:
    declared: dict[str, Any] | None = getattr(call.peer.capabilities, capability)
    if declared is None:
        raise _unsupported(call, {capability: {}}, f"the client does not support {capability}")
    return declared


def _require_mode(call: Call, mode: str) -> None:
    declared = _require_capability(call, "elicitation")
    # An empty object means forms only: clients declared it so before there were modes.
    modes = declared or {"form": {}}
    if mode not in call.peer.revision.elicitation or mode not in modes:
        needed: dict[str, Any] = {"elicitation": {mode: {}}}
        raise _unsupported(call, needed, f"the client does not support elicitation in {mode} mode")


def _unsupported(call: Call, needed: dict[str, Any], text: str) -> AskError:
    """The error for a capability that the client did not declare."""
    code = call.peer.revision.missing_capability
    return AskError(text) if code is None else Undeclared(code, text, {"requiredCapabilities": needed})


def _decode(raw: Raw, expected: type[T]) -> T:
    try:
        return msgspec.json.decode(raw, type=expected)
    except msgspec.DecodeError as error:
        raise AskError(f"the client's answer does not fit the question: {error}") from None


def _reader(expected: type[T]) -> Callable[[Raw], T]:
    return lambda raw: _decode(raw, expected)


async def _ask(call: Call, question: Question[T], options: AskOptions) -> T:
    if call.asks is not None:
        through_task: T = await call.asks(question, options)
        return through_task
    answer: T = await STRATEGIES[call.peer.revision.asking](call, question, options)
    return answer


async def _ask_by_retry(call: Call, question: Question[T], options: AskOptions) -> T:
    request = InputRequest(question.method, UNSET if question.params is None else question.params)
    answer: T = await call.open_round_trips().ask(request, question.read, options.key)
    return answer


async def _ask_by_request(call: Call, question: Question[T], options: AskOptions) -> T:
    session, send, method, params = call.session, call.send, question.method, question.params
    if session is None or send is None:
        raise AskError("the client cannot be asked: its request came without a session")
    if call.finished:
        raise AskError("the client cannot be asked: its request has been answered")
    if not session.ready and method != "ping":
        raise AskError("the client cannot be asked before it has sent notifications/initialized")
    answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
    request_id = session.outgoing_requests.ask(answer)
    call.has_asked = True
    call.pause()
    try:
        await send(encode(Request(request_id, method, UNSET if params is None else params)))
        async with asyncio.timeout(options.timeout):
            return question.read(await answer)
    except TimeoutError:
        await _withdraw(call, request_id, "timed out")
        raise AskError(f"the client did not answer {method} within {options.timeout:g} s") from None
    except asyncio.CancelledError:
        await _withdraw(call, request_id, "the request that needed it was cancelled")
        raise
    finally:
        call.resume()
        session.outgoing_requests.forget(request_id)


async def _withdraw(call: Call, request_id: str, reason: str) -> None:
    """Cancel a question, unless the session has ended anyway."""
    if call.send is not None and call.session is not None and call.session.state is not State.CLOSED:
        params = {"requestId": request_id, "reason": reason}
        await call.send(encode(Notification("notifications/cancelled", params)))


STRATEGIES: Final[Mapping[Asking, Callable[[Call, Question[Any], AskOptions], Awaitable[Any]]]] = {
    Asking.BY_REQUEST: _ask_by_request,
    Asking.BY_RETRY: _ask_by_retry,
}
