"""A defect in words: what every report says about it, in this order."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final

from msgspec import Struct

from .defect import NAMED, Defect

COMMAND: Final = "repeat"
FRAMES: Final = "frames"


class Form(Enum):
    """How a report writes a text."""

    PROSE = "prose"
    """Ours; names in backticks are code."""
    LINK = "link"
    SUBJECT = "subject"
    """Text from a subject."""
    FRAME = "frame"
    COMMAND = "command"


class Row(Struct, frozen=True):
    label: str
    text: str
    form: Form


def account(defect: Defect) -> list[Row]:
    """The rows of a defect below its title."""
    return [row for row in _rows(defect) if row.text]


def _rows(defect: Defect) -> Iterator[Row]:
    finding = defect.finding
    yield Row("rule", f"{finding.requirement} ({finding.level}): {finding.statement}", Form.PROSE)
    yield Row("see", finding.link, Form.LINK)
    yield Row("fix", finding.fix, Form.PROSE)
    yield Row("expected", finding.expected, Form.SUBJECT)
    yield Row("observed", finding.observed, Form.SUBJECT)
    others = defect.also_observed
    yield from (Row("also", observed, Form.SUBJECT) for observed in others[:NAMED])
    if len(others) > NAMED:
        yield Row("also", f"{len(others) - NAMED} more", Form.PROSE)
    yield from (Row(FRAMES, line, Form.FRAME) for line in finding.excerpt)
    yield Row(COMMAND, finding.reproduce, Form.COMMAND)
    yield Row("in", defect.where, Form.PROSE)
    yield from (Row("follows", consequence.summary, Form.PROSE) for consequence in defect.consequences)
    yield Row("trace", defect.cell.trace, Form.SUBJECT)
