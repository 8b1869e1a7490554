"""Fixtures that request input before they do anything, and how a client answers them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import Json, Observation, Stage, Trace, observe
from assay.lab.harness.driver.inbound import SAMPLED
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.question import ELICIT, ROOTS, SAMPLE, retry
from assay.lab.harness.sabotage.saboteur import params_of
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.envelope import duplicate_keys
from assay.lab.suite.retry import succeeded, wants_input
from assay.lab.suite.self_description import as_object

ALICE: Final[dict[str, Any]] = {"action": "accept", "content": {"name": "Alice"}}
USER_NAME: Final = "user_name"
"""The key of the request of the elicitation fixture."""
CONTENT: Final = {"tools/call": "content", "prompts/get": "messages"}
"""The field of a complete result that must not be empty, by method."""


def asking_tool(name: str) -> str:
    """The full name of a fixture."""
    return f"test_input_required_result_{name}"


async def open_capable(stage: Stage, content: dict[str, Any] | None = None) -> Peer:
    """A client that supports every kind of input, and fills in every form with this content."""
    peer = await stage.open(sampling={}, elicitation={}, roots={})
    form = ALICE if content is None else {"action": "accept", "content": content}
    peer.responders = {
        ELICIT: lambda params: {"result": form},
        SAMPLE: lambda params: {"result": SAMPLED},
        ROOTS: lambda params: {"result": {"roots": [{"uri": "file:///test/root", "name": "Test Root"}]}},
    }
    return peer


async def call(peer: Peer, tool: str, **params: Any) -> Reply:
    return await peer.request("tools/call", {"name": tool, "arguments": {}, **params})


async def retry_call(peer: Peer, tool: str, reply: Reply, **changes: Any) -> Reply:
    """Repeat a call with the input that its reply requests, and its `requestState`."""
    return await call(peer, tool, **{**retry(peer, reply.result), **changes})


async def call_with_input(peer: Peer, tool: str, rounds: int = 1) -> None:
    """Call, and answer at most this many rounds of input requests."""
    reply = await call(peer, tool)
    for _ in range(rounds):
        if wants_input(reply):
            reply = await retry_call(peer, tool, reply)


class ExpectedInput(Struct, frozen=True):
    """What a fixture must request."""

    methods: tuple[str, ...]
    key: str = ""
    """The key of its request, where that is fixed."""
    state: bool = False
    """Whether `requestState` is required."""

    def __str__(self) -> str:
        key = f" under `{self.key}`" if self.key else ""
        state = ", and `requestState`" if self.state else ""
        return f"an `input_required` result with {', '.join(self.methods)}{key}{state}"


def requests_for(trace: Trace, name: str) -> list[Exchange]:
    """The answered requests for a fixture, in order."""
    exchanges = trace.exchanges(*CONTENT)
    return [exchange for exchange in exchanges if exchange.params.get("name") == name and exchange.answer]


def input_requests(exchange: Exchange) -> dict[str, Any]:
    return as_object((exchange.result or {}).get("inputRequests"))


def request_state(exchange: Exchange) -> str:
    """The `requestState` of a result; empty if it has none."""
    state = (exchange.result or {}).get("requestState")
    return state if isinstance(state, str) else ""


def has_responses(exchange: Exchange) -> bool:
    return "inputResponses" in exchange.params


def request_problem(exchange: Exchange, expected: ExpectedInput) -> str | None:
    """Why a result does not request the expected input."""
    if not wants_input(exchange) or exchange.answer is None:
        return str(exchange)
    if duplicates := duplicate_keys(exchange.answer.body, "inputRequests"):
        return f"`inputRequests` has {', '.join(duplicates)} twice"
    requests = input_requests(exchange)
    if expected.key and expected.key not in requests:
        return f"requests under {', '.join(requests) or 'no key'}"
    relevant = [requests[expected.key]] if expected.key else list(requests.values())
    methods = [str(as_object(request).get("method")) for request in relevant]
    if any(method not in methods for method in expected.methods):
        return f"requests of {', '.join(methods) or 'no method'}"
    return "no `requestState`" if expected.state and not request_state(exchange) else None


def judge_round(
    trace: Trace, name: str, incomplete: str, complete: str, expected: ExpectedInput
) -> Iterator[Observation]:
    """A fixture with one round of input: it requests what it must, and completes after the answer."""
    for exchange in requests_for(trace, name):
        if has_responses(exchange):
            yield observe_completion(complete, exchange)
        else:
            yield observe_request(incomplete, exchange, expected)


def observe_request(requirement: str, exchange: Exchange, expected: ExpectedInput) -> Observation:
    problem = request_problem(exchange, expected)
    return observe(requirement, problem is None, exchange, expected=str(expected), observed=problem)


def observe_completion(requirement: str, exchange: Exchange) -> Observation:
    problem = _completion_problem(exchange)
    expected = "a `complete` result that is not empty, since every request is answered"
    return observe(requirement, problem is None, exchange, expected=expected, observed=problem)


def _completion_problem(exchange: Exchange) -> str | None:
    if not succeeded(exchange):
        failed = (exchange.result or {}).get("isError") is True
        return "a result with `isError`" if failed else str(exchange)
    key = CONTENT.get(exchange.method, "content")
    return None if exchange.items(key) else f"an empty `{key}`"


def drop_responses(message: Json, tool: str) -> Json:
    """Hide the answers to a tool's requests from the server."""
    if calls_tool(message, tool):
        for key in ("inputResponses", "requestState"):
            message["params"].pop(key, None)
    return message


def calls_tool(message: Json, name: str) -> bool:
    return params_of(message).get("name") == name
