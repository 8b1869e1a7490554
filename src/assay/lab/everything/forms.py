"""Elicitation forms that fixture tools show, judged field by field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from assay.lab.harness.driver.peer import Peer
from assay.lab.harness.driver.question import ELICIT
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.interview import accept

from .asked import asking_calls

Part = dict[str, Any]


class Field(Struct, frozen=True):
    name: str
    fits: Callable[[Part], bool]
    expected: str


def answer_forms(peer: Peer, answer: Callable[[Any], dict[str, Any]] = accept) -> None:
    """Let the driver answer every form so; it accepts them, with what their fields suggest, unless told."""
    peer.responders[ELICIT] = lambda params: {"result": answer(params.get("requestedSchema"))}


def judge_form(trace: Trace, tool: str, general: str, fields: Mapping[str, Field]) -> Iterator[Observation]:
    """A call shows a form, and each row's field is in it as expected."""
    for exchange, rounds in asking_calls(trace, tool, ELICIT):
        shown = [parts for one in rounds if (parts := _parts(one.question.params)) is not None]
        expected = f"{ELICIT} with a form"
        yield observe(
            general, bool(shown), exchange, *rounds, expected=expected, observed=f"none: {exchange}"
        )
        for row, field in fields.items() if shown else ():
            part = shown[0].get(field.name)
            holds = isinstance(part, dict) and field.fits(part)
            expected = f"`{field.name}`: {field.expected}"
            yield observe(row, holds, exchange, *rounds, expected=expected, observed=f"{part!r}")


def _parts(params: Part) -> Part | None:
    schema = params.get("requestedSchema")
    parts = schema.get("properties") if isinstance(schema, dict) else None
    return parts if isinstance(parts, dict) else None
