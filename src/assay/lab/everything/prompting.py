"""Prompts as they are got: their messages, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

from .answered import answered
from .content import Block

ROLES = ("user", "assistant")


def judge_prompt(
    trace: Trace, row: str, name: str, expected: str, problem_of: Callable[[Exchange], str | None]
) -> Iterator[Observation]:
    """Every getting of a prompt gives messages, and those are as expected."""
    for exchange in answered(trace, "prompts/get", name=name):
        problem = _problem(exchange) or problem_of(exchange)
        yield observe(row, problem is None, exchange, expected=expected, observed=problem)


def _problem(exchange: Exchange) -> str | None:
    if exchange.result is None:
        return str(exchange)
    messages = exchange.items("messages")
    return next((repr(one) for one in messages if not _is_message(one)), None) if messages else "no messages"


def _is_message(message: Any) -> bool:
    known = isinstance(message, dict) and message.get("role") in ROLES
    return known and isinstance(message.get("content"), dict)


def blocks_of(exchange: Exchange) -> list[Block]:
    """What the messages hold, in order."""
    found = (message.get("content") for message in exchange.objects("messages"))
    return [block for block in found if isinstance(block, dict)]


def text_of(exchange: Exchange) -> str:
    texts = (block.get("text") for block in blocks_of(exchange))
    return "\n".join(text for text in texts if isinstance(text, str))
