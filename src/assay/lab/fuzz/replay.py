"""A case tried once more, from a test: what `assay server --suite fuzz --export` writes calls this."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from assay.lab.harness.run.archive import told
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import CommandSubject, Subject, UrlSubject, served
from assay.lab.harness.transport import Transport
from assay.lab.suites import protocol_suite
from assay.revisions.registry import BY_DATE

from .case import Case, Step, parse_case
from .ground import Ground
from .jury import Jury
from .place import Place

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
    """Try a case on a server, named as on the command line; what it breaks, one line each.

    Raises:
        BrokenOff: there is no server.
    """
    subject = _subject(Transport(transport), target, command, url)
    return asyncio.run(_tried(case, subject, revision, timeout))


def _subject(transport: Transport, target: str, command: Sequence[str], url: str) -> Subject:
    if target:
        return served(target, transport)
    return UrlSubject(url, transport=transport, command=command or None) if url else CommandSubject(command)


async def _tried(case: Case, subject: Subject, revision: str, timeout: float) -> list[str]:
    await subject.start()
    ground = Ground(subject.transport, BY_DATE[revision], Facts(revision))
    place = Place(subject, ground, patience=timeout)
    jury = Jury(protocol_suite())
    try:
        trace = await place.confirm(case)
    finally:
        await subject.stop()
    broken = jury.verdict(trace)
    results = [] if broken is None else jury.results(trace, broken)
    return [told(finding) for result in results for finding in result.findings]
