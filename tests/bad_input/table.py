"""The table of bad input: what is sent, the answer, and the reason; see `docs/evidence/bad-input.md`."""

from __future__ import annotations

from dataclasses import replace

from tests.bad_input import bodies, conversations, frames, heads, messages
from tests.bad_input.row import Row

SECTIONS: dict[str, list[Row]] = {
    **messages.SECTIONS,
    **conversations.SECTIONS,
    **heads.SECTIONS,
    **bodies.SECTIONS,
    **frames.SECTIONS,
}
TABLE: list[Row] = [replace(row, section=title) for title, rows in SECTIONS.items() for row in rows]
