"""Requests for prompts as checks see them: the prompt's definition, and how it was answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from assay.lab.harness.driver.argument import required_names
from assay.lab.harness.trace.frame import Frame
from assay.lab.harness.trace.trace import Exchange, Trace


class PromptGet(Struct, frozen=True):
    exchange: Exchange
    prompt: dict[str, Any]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self.exchange.frames

    @property
    def given(self) -> dict[str, Any]:
        arguments = self.exchange.params.get("arguments")
        return arguments if isinstance(arguments, dict) else {}

    @property
    def missing(self) -> list[str]:
        return [name for name in required_names(self.prompt) if name not in self.given]

    @property
    def untextual(self) -> list[str]:
        """Arguments that are no text, as all arguments of prompts are."""
        return [name for name, value in self.given.items() if not isinstance(value, str)]

    @property
    def succeeded(self) -> bool:
        result = self.exchange.result
        return result is not None and result.get("resultType") != "input_required"


def listed_prompts(trace: Trace) -> dict[str, dict[str, Any]]:
    found = (prompt for one in trace.exchanges("prompts/list") for prompt in one.objects("prompts"))
    return {prompt["name"]: prompt for prompt in found if isinstance(prompt.get("name"), str)}


def prompt_gets(trace: Trace) -> Iterator[PromptGet]:
    """The answered requests for prompts that were listed."""
    prompts = listed_prompts(trace)
    for exchange in trace.exchanges("prompts/get"):
        name = exchange.params.get("name")
        if isinstance(name, str) and name in prompts and exchange.answer is not None:
            yield PromptGet(exchange, prompts[name])
