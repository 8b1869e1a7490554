"""A form that is accepted untouched comes back with the default of each field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.client.fixtures.defaults_form import FIELDS
from assay.lab.client.owed import with_owed
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

GENERAL = "client-elicitation-sep1034-general"
ROWS = {
    "name": "client-elicitation-sep1034-string-default",
    "age": "client-elicitation-sep1034-integer-default",
    "score": "client-elicitation-sep1034-number-default",
    "status": "client-elicitation-sep1034-enum-default",
    "verified": "client-elicitation-sep1034-boolean-default",
}


@official_check(
    "elicitation-sep1034-client-defaults",
    "The form is accepted with its defaults",
    rows=(GENERAL, *ROWS.values()),
)
def judge(trace: Trace) -> Iterator[Observation]:
    owed = {row: f"an accepted form, with a value for {field}" for field, row in ROWS.items()}
    yield from with_owed(trace, _seen(trace), owed)


def _seen(trace: Trace) -> Iterator[Observation]:
    for asked in trace.exchanges("elicitation/create"):
        result = asked.result or {}
        accepted = result.get("action") == "accept"
        yield observe(GENERAL, accepted, asked, expected="the form accepted", observed=_action(asked))
        if accepted:
            content = result.get("content")
            yield from _fields(asked, content if isinstance(content, dict) else {})


def _action(asked: Exchange) -> str:
    return f"action {asked.result.get('action')!r}" if asked.result is not None else str(asked)


def _fields(asked: Exchange, content: dict[str, Any]) -> Iterator[Observation]:
    for field, row in ROWS.items():
        default, given = FIELDS[field]["default"], content.get(field)
        told = repr(given) if field in content else "no value"
        yield observe(row, _same(given, default), asked, expected=f"{field}: {default!r}", observed=told)


def _same(given: Any, default: Any) -> bool:
    """Equal as JSON: true is no number, and 30.0 is the integer 30."""
    return isinstance(given, bool) == isinstance(default, bool) and bool(given == default)
