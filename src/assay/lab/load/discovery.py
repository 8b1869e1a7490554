"""Finds out what a server offers, and with which arguments its tools work, before load is put on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from assay.lab.error import CannotJudge
from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.run.recording import Conditions, Recording, record
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.subject.discovery import DISCOVERY, discover
from assay.lab.harness.subject.facts import Facts, Permission, UnsupportedRevision
from assay.lab.harness.subject.first_calls import BUDGET, FIRST_CALLS, make_first_calls, provided
from assay.lab.harness.subject.subject import Subject
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision


class Known(Struct, frozen=True):
    revision: Revision
    facts: Facts


async def discover_newest(subject: Subject, revisions: Sequence[Revision], conditions: Conditions) -> Known:
    """The newest of these revisions that the server supports, and its facts there.

    Raises:
        SubjectDown: it answers nothing.
        CannotJudge: it supports none of them.
    """
    refusals: list[str] = []
    silent: list[BrokenOff] = []
    for revision in sorted(revisions or REVISIONS, key=REVISIONS.index, reverse=True):
        facts = Facts(revision.date)
        recording: Recording = await record(DISCOVERY, subject, revision, discover, facts, conditions)
        if isinstance(recording.value, Facts):
            return Known(revision, recording.value)
        if isinstance(recording.value, UnsupportedRevision):
            refusals.append(f"{revision.date}: {recording.value.reason}")
        elif recording.broken is not None:
            silent.append(recording.broken)
    if silent and not refusals:
        raise SubjectDown(conditions.redaction.string(subject.name), silent[0])
    problem = f"the server supports none of the selected revisions; {'; '.join(refusals)}"
    raise CannotJudge(problem, "leave out --spec-version")


async def call_tools(
    subject: Subject,
    known: Known,
    permission: Permission,
    arguments: Mapping[str, Sequence[dict[str, Any]]],
    conditions: Conditions,
) -> None:
    """Try the tools that may be called, and note in the facts which arguments work."""
    facts = known.facts
    facts.permission = permission
    facts.calls = provided(arguments)
    if facts.permitted_tools:
        limit = max(conditions.limit, (BUDGET + 1) * conditions.patience)
        conditions = msgspec.structs.replace(conditions, limit=limit)
        await record(FIRST_CALLS, subject, known.revision, make_first_calls, facts, conditions)
