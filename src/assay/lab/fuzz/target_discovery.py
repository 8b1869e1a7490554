"""Finding the targets of a subject: the revisions that it supports, with its facts at each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from assay.lab.harness.links.broken_off import BrokenOff, Unreachable
from assay.lab.harness.run.recording import Conditions, Recording, record
from assay.lab.harness.run.run import SubjectRecord
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.subject.discovery import DISCOVERY, discover
from assay.lab.harness.subject.facts import Facts, Permission, UnsupportedRevision
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

from .grammar_context import GrammarContext
from .target import FuzzTarget


async def find_targets(
    subject: Subject, selected: Sequence[Revision], conditions: Conditions, permission: Permission
) -> tuple[SubjectRecord, list[FuzzTarget]]:
    """Start a subject and find its targets.

    Raises:
        SubjectDown: the subject does not start, or answers nothing.
    """
    name = conditions.redaction.string(subject.name)
    try:
        await subject.start()
    except Unreachable as reason:
        raise SubjectDown(name, reason) from reason
    name = conditions.redaction.string(subject.name)  # a server that was just started has its URL only now
    revisions = [revision for revision in selected or REVISIONS if _is_supported(revision, subject.transport)]
    recordings = [await _discover(subject, revision, conditions) for revision in revisions]
    record = SubjectRecord(name, subject.transport)
    targets = []
    for revision, recording in zip(revisions, recordings, strict=True):
        if isinstance(recording.value, Facts):
            record.facts.append(recording.value)
            context = GrammarContext(subject.transport, revision, recording.value, permission=permission)
            targets.append(
                FuzzTarget(subject, context, patience=conditions.patience, redaction=conditions.redaction)
            )
        else:
            record.refused.append(_refusal(revision, recording))
    if recordings and not targets and all(refusal.unanswered for refusal in record.refused):
        reasons = (recording.broken for recording in recordings if recording.broken is not None)
        raise SubjectDown(name, next(reasons, BrokenOff("no answer")))
    return record, targets


def _is_supported(revision: Revision, transport: Transport) -> bool:
    """Only the first revision has HTTP+SSE."""
    return transport is not Transport.HTTP_SSE or revision is REVISIONS[0]


async def _discover(subject: Subject, revision: Revision, conditions: Conditions) -> Recording:
    return await record(DISCOVERY, subject, revision, discover, Facts(revision.date), conditions)


def _refusal(revision: Revision, recording: Recording) -> UnsupportedRevision:
    if isinstance(recording.value, UnsupportedRevision):
        return recording.value
    unanswered = not any(message.is_response for message in recording.trace.received)
    return UnsupportedRevision(revision.date, str(recording.broken), unanswered=unanswered)


async def stop_all(subjects: Sequence[Subject]) -> None:
    await asyncio.gather(*(subject.stop() for subject in subjects))
