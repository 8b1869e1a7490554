"""Findings as a pytest file: red on the server as it is, green once it is mended."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from .case import Case, Step, dump_case
from .finding import Found

READABLE: Final = 4_000
"""Bytes of a case that are written out; a larger one is a word that nobody reads."""
HEADER: Final = '''"""Found by fuzzing: {origin}

Needs pytest and assay-mcp[lab]. Each test holds one conversation and passes once the server is fixed.
"""

from .replay import Case, Step, broken_by, parse_case
'''
TEST: Final = '''

def test_{name}() -> None:
    """{title}"""
    case = {case}
    server = {server}
    assert broken_by(case, **server, revision={revision!r}, transport={transport!r}) == []
'''


def exported(found: Sequence[Found], servers: Sequence[Mapping[str, object]], origin: str) -> str:
    """The text of the file; each finding goes with the arguments that name its server."""
    tests = [
        _test(number, one, server) for number, (one, server) in enumerate(zip(found, servers, strict=True), 1)
    ]
    return HEADER.format(origin=_one_line(origin)) + "".join(tests)


def _test(number: int, found: Found, server: Mapping[str, object]) -> str:
    seen = next((finding for result in found.results for finding in result.findings), None)
    title = f"{seen.statement}. Observed: {seen.observed}" if seen else found.broken.row
    return TEST.format(
        name=f"{re.sub(r'[^a-z0-9]+', '_', found.broken.check.lower())}_{number}",
        title=_one_line(title),
        case=_written(found.case),
        server=dict(server),
        revision=found.place.ground.revision.date,
        transport=str(found.place.ground.transport),
    )


def _one_line(text: str) -> str:
    """As it may stand in a docstring."""
    return (
        " ".join(text.split())
        .encode("ascii", "backslashreplace")
        .decode()
        .replace("\\", "/")
        .replace('"', "'")
    )


def _written(case: Case) -> str:
    if case.size[1] > READABLE:
        return f"parse_case({dump_case(case)!r})"
    steps = "".join(f"\n            {_step(one)}," for one in case.steps)
    together = ",\n        together=True" if case.together else ""
    return f"Case(\n        ({steps}\n        ){together},\n    )"


def _step(step: Step) -> str:
    given = [repr(step.body)]
    given += [f"headers={step.headers!r}"] if step.headers else []
    given += [f"verb={step.verb!r}"] if step.verb != "POST" else []
    given += [] if step.framed else ["framed=False"]
    return f"Step({', '.join(given)})"
