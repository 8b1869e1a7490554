"""Running a case again from a test: files written by `assay server --suite fuzz --export` import this."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from assay.lab.harness.run.check_entry import error_message
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import CommandSubject, Subject, UrlSubject, served
from assay.lab.harness.transport import Transport
from assay.lab.suites import protocol_suite
from assay.revisions.registry import BY_DATE

from .case import Case, Step, parse_case
from .grammar_context import GrammarContext
from .judge import TraceJudge
from .target import FuzzTarget

__all__ = ["Case", "Step", "broken_by", "parse_case"]


def broken_by(
    case: Case,
    *,
    revision: str,
    transport: str = "stdio",
    target: str = "",
    command: Sequence[str] = (),
    url: str = "",
    timeout: float = 10.0,
) -> list[str]:
    """Run a case against a server, named as on the command line; returns a line for each broken rule.

    Raises:
        BrokenOff: the server cannot be reached.
    """
    subject = _subject(Transport(transport), target, command, url)
    return asyncio.run(_run(case, subject, revision, timeout))


def _subject(transport: Transport, target: str, command: Sequence[str], url: str) -> Subject:
    if target:
        return served(target, transport)
    return UrlSubject(url, transport=transport, command=command or None) if url else CommandSubject(command)


async def _run(case: Case, subject: Subject, revision: str, timeout: float) -> list[str]:
    await subject.start()
    context = GrammarContext(subject.transport, BY_DATE[revision], Facts(revision))
    target = FuzzTarget(subject, context, patience=timeout)
    judge = TraceJudge(protocol_suite())
    try:
        trace = await target.confirm(case)
    finally:
        await subject.stop()
    broken = judge.verdict(trace)
    results = [] if broken is None else judge.results(trace, broken)
    return [error_message(finding) for result in results for finding in result.findings]
