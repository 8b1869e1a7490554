"""Getting to know a subject before it is fuzzed: which revisions it speaks, and what it has."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from assay.lab.harness.links.broken_off import BrokenOff, Unreachable
from assay.lab.harness.run.recording import Conditions, Recording, play
from assay.lab.harness.run.run import SubjectRecord
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.subject.discovery import DISCOVERY, discover
from assay.lab.harness.subject.facts import Facts, Refusal
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

from .ground import Ground
from .place import Place


async def meet(
    subject: Subject, wanted: Sequence[Revision], conditions: Conditions, effects: bool
) -> tuple[SubjectRecord, list[Place]]:
    """Start a subject and find its places.

    Raises:
        SubjectDown: it is not there, or answers nothing.
    """
    shown = conditions.redaction.words(subject.name)
    try:
        await subject.start()
    except Unreachable as reason:
        raise SubjectDown(shown, reason) from reason
    shown = conditions.redaction.words(subject.name)
    revisions = [one for one in wanted or REVISIONS if _is_carried(one, subject.transport)]
    played = [await _play(subject, one, conditions) for one in revisions]
    record = SubjectRecord(shown, subject.transport)
    places = []
    for revision, one in zip(revisions, played, strict=True):
        if isinstance(one.value, Facts):
            record.facts.append(one.value)
            ground = Ground(subject.transport, revision, one.value, effects=effects)
            places.append(
                Place(subject, ground, patience=conditions.patience, redaction=conditions.redaction)
            )
        else:
            record.refused.append(_refusal(revision, one))
    if played and not places and all(one.unanswered for one in record.refused):
        reasons = (one.broken for one in played if one.broken is not None)
        raise SubjectDown(shown, next(reasons, BrokenOff("no answer")))
    return record, places


def _is_carried(revision: Revision, transport: Transport) -> bool:
    """HTTP+SSE is a transport of the first revision only."""
    return transport is not Transport.HTTP_SSE or revision is REVISIONS[0]


async def _play(subject: Subject, revision: Revision, conditions: Conditions) -> Recording:
    return await play(DISCOVERY, subject, revision, discover, Facts(revision.date), conditions)


def _refusal(revision: Revision, played: Recording) -> Refusal:
    if isinstance(played.value, Refusal):
        return played.value
    unanswered = not any(message.is_response for message in played.trace.received)
    return Refusal(revision.date, str(played.broken), unanswered=unanswered)


async def stop_all(subjects: Sequence[Subject]) -> None:
    await asyncio.gather(*(subject.stop() for subject in subjects))
