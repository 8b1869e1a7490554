"""Asking the client: sampling, elicitation, roots, ping.

How a question travels is a strategy chosen by the revision (`STRATEGIES`); what may be asked,
and whether the answer fits, is the same whichever way it went.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from secrets import token_urlsafe
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw

from assay.model.asking import ElicitAnswer, Elicited, Root, RootsAnswer, Sampled
from assay.model.content import BLOCKS, Block, Text
from assay.model.error import AskError
from assay.model.jsonrpc import Notification, Request
from assay.model.result import Message
from assay.protocol.codec import encode
from assay.protocol.lifecycle import State
from assay.revisions.revision import Asking

from .call import Call
from .form import Form
from .naming import camel
from .shape import kind_of

T = TypeVar("T")
SAMPLED: Final = frozenset({"text", "image", "audio"})
"""Content that a sampling message may hold, where the revision has it."""
Strategy = Callable[[Call, str, Any, float | None], Awaitable[Raw]]


async def ask_for_sample(
    call: Call,
    messages: str | Block | Message | Sequence[str | Block | Message],
    max_tokens: int,
    options: dict[str, Any],
    timeout: float | None,
) -> Sampled:
    declared = _need(call, "sampling")
    offers_tools = bool({"tools", "tool_choice"} & {*options})
    if offers_tools and not (call.peer.revision.sampling_tools and declared.get("tools") is not None):
        raise AskError("the client does not support sampling with tools")
    listed: list[Any] = list(messages) if isinstance(messages, list | tuple) else [messages]
    shaped = [_sampling_message(message, call) for message in listed]
    params = {"messages": shaped, "maxTokens": max_tokens}
    params |= {camel(name): value for name, value in options.items()}
    return _decode(await _ask(call, "sampling/createMessage", params, timeout), Sampled)


async def ask_for_input(
    call: Call, message: str, schema: type[Any] | Mapping[str, Any], timeout: float | None
) -> Elicited:
    _need_mode(call, "form")
    form = Form(schema)
    form.check_for(call.peer.revision)
    params: dict[str, Any] = {"message": message, "requestedSchema": form.schema}
    answer = _decode(await _ask(call, "elicitation/create", params, timeout), ElicitAnswer)
    content = form.read(answer.content) if answer.action == "accept" else None
    return Elicited(answer.action, content)


async def ask_for_visit(call: Call, message: str, url: str, timeout: float | None) -> Elicited:
    _need_mode(call, "url")
    elicitation_id = token_urlsafe(16)
    params = {"mode": "url", "message": message, "url": url, "elicitationId": elicitation_id}
    answer = _decode(await _ask(call, "elicitation/create", params, timeout), ElicitAnswer)
    return Elicited(answer.action, None, elicitation_id)


async def ask_for_roots(call: Call, timeout: float | None) -> list[Root]:
    _need(call, "roots")
    return _decode(await _ask(call, "roots/list", None, timeout), RootsAnswer).roots


async def ask_for_ping(call: Call, timeout: float | None) -> None:
    await _ask(call, "ping", None, timeout)


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


def _need(call: Call, capability: str) -> dict[str, Any]:
    declared: dict[str, Any] | None = getattr(call.peer.capabilities, capability)
    if declared is None:
        raise AskError(f"the client does not support {capability}")
    return declared


def _need_mode(call: Call, mode: str) -> None:
    declared = _need(call, "elicitation")
    # An empty object means forms only: clients that declared elicitation before modes existed.
    modes = declared or {"form": {}}
    if mode not in call.peer.revision.elicitation or mode not in modes:
        raise AskError(f"the client does not support elicitation in {mode} mode")


def _decode(raw: Raw, expected: type[T]) -> T:
    try:
        return msgspec.json.decode(raw, type=expected)
    except msgspec.DecodeError as error:
        raise AskError(f"the client's answer does not fit the question: {error}") from None


async def _ask(call: Call, method: str, params: Any, timeout: float | None) -> Raw:
    return await STRATEGIES[call.peer.revision.asking](call, method, params, timeout)


async def _ask_by_request(call: Call, method: str, params: Any, timeout: float | None) -> Raw:
    session, send = call.session, call.send
    if session is None or send is None:
        raise AskError("the client cannot be asked: its request came without a session")
    if call.over:
        raise AskError("the client cannot be asked: its request has been answered")
    if not session.ready and method != "ping":
        raise AskError("the client cannot be asked before it has sent notifications/initialized")
    answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
    request_id = session.asked.ask(answer)
    call.pause()
    try:
        await send(encode(Request(request_id, method, msgspec.UNSET if params is None else params)))
        async with asyncio.timeout(timeout):
            return await answer
    except TimeoutError:
        await _withdraw(call, request_id, "timed out")
        raise AskError(f"the client did not answer {method} within {timeout:g} s") from None
    except asyncio.CancelledError:
        await _withdraw(call, request_id, "the request that needed it was cancelled")
        raise
    finally:
        call.resume()
        session.asked.forget(request_id)


async def _withdraw(call: Call, request_id: str, reason: str) -> None:
    """Tell the client that its answer is no longer needed, unless the whole session is over."""
    if call.send is not None and call.session is not None and call.session.state is not State.CLOSED:
        params = {"requestId": request_id, "reason": reason}
        await call.send(encode(Notification("notifications/cancelled", params)))


STRATEGIES: Final[Mapping[Asking, Strategy]] = {Asking.BY_REQUEST: _ask_by_request}
