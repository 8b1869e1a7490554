"""Reasons why something was not judged: a kind for programs and a text for people."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct


class ReasonKind(StrEnum):
    """The kind of a reason, as in stored runs and summaries."""

    NOT_APPLICABLE = "not-applicable"
    """The subject lacks what the scenario or demand is about."""
    NEEDS_OPTION = "needs-option"
    """A command-line option would make it possible."""
    NOT_SELECTED = "not-selected"
    """The user selected other scenarios or transports."""
    NOT_OBSERVED = "not-observed"
    """The scenario ran, but its trace does not show it."""
    BROKE_OFF = "broke-off"
    """The scenario did not reach its end."""
    INTERRUPTED = "interrupted"
    """The user stopped the run."""
    DEADLINE = "deadline"
    """The run had no time left."""
    SUBJECT_FAILED = "subject-failed"
    """The process of the subject ended with an error."""
    NO_CHECK = "no-check"
    """Assay has no check or scenario for it."""


class Reason(Struct, frozen=True):
    kind: ReasonKind
    text: str
    options: tuple[str, ...] = ()
    """Options that would change it, such as `--allow-effects`."""

    def __str__(self) -> str:
        return self.text


def stored(reason: Reason | None) -> dict[str, Any]:
    """The fields that hold a reason in a result."""
    if reason is None:
        return {}
    return {"reason": reason.text, "reason_kind": reason.kind, "reason_options": list(reason.options)}


def restored(text: str, kind: ReasonKind | None, options: list[str]) -> Reason | None:
    """The reason in the fields of a result."""
    return None if kind is None else Reason(kind, text, tuple(options))
