"""A tool whose marks break the rules is left out, and the others are kept."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, calls_of
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.annotation import KEYWORD, annotations_of

REPORT = "report"
"""The tool that is given the schemas of others, as the client has them."""
BAD, GOOD = "badly_marked", "well_marked"


@check("A tool with bad marks is left out", rows=("XH-08",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    reported = [(one, _mark(one.params)) for one in calls_of(trace, REPORT)]
    bad = [one for one, mark in reported if mark == BAD]
    good = [one for one, mark in reported if mark == GOOD]
    for one in bad:
        observed = f"the client still has the schema of {BAD}"
        yield observe("XH-08", False, one, expected=f"no tool {BAD}", observed=observed)
    for after in calls_of(trace, AFTER)[:1]:
        if not bad:
            observed = f"the client has no tool {GOOD} either"
            yield observe("XH-08", bool(good), *good, after, expected=f"a tool {GOOD}", observed=observed)


def _mark(params: dict[str, object]) -> str:
    """Which tool's schema was given: each says so in its description."""
    arguments = params.get("arguments")
    schema = arguments.get("schema") if isinstance(arguments, dict) else None
    told = schema.get("description") if isinstance(schema, dict) else None
    marked = isinstance(schema, dict) and bool(annotations_of({"inputSchema": schema}))
    return told if isinstance(told, str) and marked else f"no {KEYWORD}"
