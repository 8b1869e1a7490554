"""A host that answers the handshake with a version of the scenario's choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.lab.harness.hosting.answer import Answer
from assay.lab.harness.hosting.hosting import Hosting
from assay.lab.harness.hosting.turn import Turn

from .evidence import FIRST


def answer_version(stage: Hosting, version: Callable[[Turn], Any]) -> None:
    usual = stage.host.handlers[FIRST]

    @stage.host.on(FIRST)
    async def initialize(turn: Turn) -> Answer:
        answer = await usual(turn)
        assert isinstance(answer, dict)
        return {**answer, "protocolVersion": version(turn)}

    stage.host.add_tool({"name": "work"})
