"""Findings as a pytest file, whose tests fail until the server is fixed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from .case import Case, Step, dump_case
from .finding import FuzzFinding

READABLE: Final = 4_000
"""Cases up to so many bytes are written out; a larger one is a single encoded word."""
HEADER: Final = '''"""Found by fuzzing: {origin}

Needs pytest and assay-mcp[lab]. Each test holds one conversation and passes once the server is fixed.
"""

from assay.lab.fuzz.replay import Case, Step, broken_by, parse_case
'''
TEST: Final = '''

def test_{name}() -> None:
    """{title}"""
    case = {case}
    server = {server}
    assert broken_by(case, **server, revision={revision!r}, transport={transport!r}) == []
'''


def export_tests(
    findings: Sequence[FuzzFinding], servers: Sequence[Mapping[str, object]], origin: str
) -> str:
    """The text of the file; `servers` has the arguments of `broken_by` that name each finding's server."""
    pairs = zip(findings, servers, strict=True)
    tests = [_test(number, finding, server) for number, (finding, server) in enumerate(pairs, 1)]
    return HEADER.format(origin=_one_line(origin)) + "".join(tests)


def _test(number: int, finding: FuzzFinding, server: Mapping[str, object]) -> str:
    first = next((finding for result in finding.results for finding in result.findings), None)
    title = f"{first.statement}. Observed: {first.observed}" if first else finding.broken.requirement
    return TEST.format(
        name=f"{re.sub(r'[^a-z0-9]+', '_', finding.broken.check.lower())}_{number}",
        title=_one_line(title),
        case=_case_source(finding.case),
        server=dict(server),
        revision=finding.target.context.revision.date,
        transport=str(finding.target.context.transport),
    )


def _one_line(text: str) -> str:
    """The text in a form that is safe in a docstring."""
    return (
        " ".join(text.split())
        .encode("ascii", "backslashreplace")
        .decode()
        .replace("\\", "/")
        .replace('"', "'")
    )


def _case_source(case: Case) -> str:
    if case.size[1] > READABLE:
        return f"parse_case({dump_case(case)!r})"
    steps = "".join(f"\n            {_step_source(step)}," for step in case.steps)
    together = ",\n        together=True" if case.together else ""
    return f"Case(\n        ({steps}\n        ){together},\n    )"


def _step_source(step: Step) -> str:
    arguments = [repr(step.body)]
    arguments += [f"headers={step.headers!r}"] if step.headers else []
    arguments += [f"verb={step.verb!r}"] if step.verb != "POST" else []
    arguments += [] if step.framed else ["framed=False"]
    return f"Step({', '.join(arguments)})"
