"""A client that can be asked, and how it answers the fixtures that ask before they do anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness import Observation, Stage, Trace, observe
from assay.lab.harness.driver.input_round import retry
from assay.lab.harness.driver.peer import Peer, Reply
from assay.lab.harness.driver.question import ELICIT, ROOTS, SAMPLE
from assay.lab.harness.driver.responder import SAMPLED
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.envelope import duplicate_keys
from assay.lab.suite.retry import succeeded
from assay.lab.suite.retry import wants_input as wants_input_retry
from assay.lab.suite.self_description import as_object

ABLE: Final[dict[str, Any]] = {"sampling": {}, "elicitation": {}, "roots": {}}
ALICE: Final[dict[str, Any]] = {"action": "accept", "content": {"name": "Alice"}}


async def able(stage: Stage, content: dict[str, Any] | None = None) -> Peer:
    """A client that can be asked anything, and fills every form with this content."""
    peer = await stage.open(**ABLE)
    form = ALICE if content is None else {"action": "accept", "content": content}
    peer.responders = {
        ELICIT: lambda params: {"result": form},
        SAMPLE: lambda params: {"result": SAMPLED},
        ROOTS: lambda params: {"result": {"roots": [{"uri": "file:///test/root", "name": "Test Root"}]}},
    }
    return peer


async def call(peer: Peer, name: str, **more: Any) -> Reply:
    return await peer.request("tools/call", {"name": name, "arguments": {}, **more})


async def call_again(peer: Peer, name: str, asked: Reply, **changed: Any) -> Reply:
    """Once more, with answers to what was asked, and with what came along with the questions."""
    return await call(peer, name, **{**retry(peer, asked.result), **changed})


def wants_input(reply: Reply) -> bool:
    return reply.result.get("resultType") == "input_required"


async def call_through(peer: Peer, name: str, rounds: int = 1) -> Reply:
    """Call, and answer so many rounds of questions; a server that asks on is for a check to find."""
    reply = await call(peer, name)
    for _ in range(rounds):
        if wants_input(reply):
            reply = await call_again(peer, name, reply)
    return reply


USER_NAME: Final = "user_name"
"""What the fixture for elicitation calls its question."""
PRODUCT: Final = {"tools/call": "content", "prompts/get": "messages"}
"""Where a request that asks first has what it was made for."""


def asking_tool(name: str) -> str:
    """The full name of a fixture."""
    return f"test_input_required_result_{name}"


class Wanted(Struct, frozen=True):
    """What a fixture must ask."""

    methods: tuple[str, ...]
    key: str = ""
    """The name of its question, where that is fixed."""
    state: bool = False
    """Whether something must come along that the client brings back."""

    def __str__(self) -> str:
        named = f" under `{self.key}`" if self.key else ""
        state = ", and `requestState`" if self.state else ""
        return f"an `input_required` result with {', '.join(self.methods)}{named}{state}"


def rounds(trace: Trace, name: str) -> list[Exchange]:
    """The requests for one fixture that were answered, in order."""
    found = (one for one in trace.exchanges(*PRODUCT) if one.params.get("name") == name)
    return [one for one in found if one.answer is not None]


def asked_in(exchange: Exchange) -> dict[str, Any]:
    return as_object((exchange.result or {}).get("inputRequests"))


def state_in(exchange: Exchange) -> str:
    """What came along with the questions; empty where nothing did."""
    state = (exchange.result or {}).get("requestState")
    return state if isinstance(state, str) else ""


def brings_answers(exchange: Exchange) -> bool:
    return "inputResponses" in exchange.params


def asks_wrongly(exchange: Exchange, wanted: Wanted) -> str | None:
    """Why this is not what the fixture must ask; none where it is."""
    if not wants_input_retry(exchange) or exchange.answer is None:
        return str(exchange)
    if twice := duplicate_keys(exchange.answer.body, "inputRequests"):
        return f"`inputRequests` has {', '.join(twice)} twice"
    questions = asked_in(exchange)
    if wanted.key and wanted.key not in questions:
        return f"questions under {', '.join(questions) or 'no name'}"
    considered = [questions[wanted.key]] if wanted.key else list(questions.values())
    methods = [str(as_object(one).get("method")) for one in considered]
    if any(method not in methods for method in wanted.methods):
        return f"asked by {', '.join(methods) or 'nothing'}"
    return "no `requestState`" if wanted.state and not state_in(exchange) else None


def is_unfinished(exchange: Exchange) -> str | None:
    """Why an answered fixture is not done; none where it is."""
    if not succeeded(exchange):
        failed = (exchange.result or {}).get("isError") is True
        return "a tool that failed" if failed else str(exchange)
    product = PRODUCT.get(exchange.method, "content")
    return None if exchange.items(product) else f"`{product}` with nothing in it"


def asked_then_done(trace: Trace, name: str, first: str, last: str, wanted: Wanted) -> Iterator[Observation]:
    """A fixture with one round of questions: it asks what it must, and once answered it is done."""
    for exchange in rounds(trace, name):
        if brings_answers(exchange):
            yield done(last, exchange)
        else:
            yield asked(first, exchange, wanted)


def asked(row: str, exchange: Exchange, wanted: Wanted) -> Observation:
    problem = asks_wrongly(exchange, wanted)
    return observe(row, problem is None, exchange, expected=str(wanted), observed=problem)


def done(row: str, exchange: Exchange) -> Observation:
    problem = is_unfinished(exchange)
    expected = "a `complete` result with something in it, now that all is answered"
    return observe(row, problem is None, exchange, expected=expected, observed=problem)
