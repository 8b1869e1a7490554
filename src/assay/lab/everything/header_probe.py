"""Requests whose headers are tried out, as checks read them: which are alike, and what came of each."""

from __future__ import annotations

import json
from collections.abc import Iterator

from assay.lab.harness.trace.trace import Call
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.mirrored import asked
from assay.model.error import HEADER_MISMATCH

BAD_REQUEST = 400


def is_served(call: Call) -> bool:
    """It was answered with a result."""
    answered = any("result" in one.fields for one in call.messages)
    return call.status < BAD_REQUEST and answered


def identity(call: Call) -> str:
    """What two calls have in common that differ in their headers."""
    message = asked(call)
    params = {} if message is None else message.params
    return json.dumps([message.method if message else "", params.get("name")])


def served(row: str, call: Call, why: str) -> Observation:
    return observe(row, is_served(call), call, expected=f"a result: {why}", observed=_said(call))


def refused(status_row: str, code_row: str, call: Call, why: str) -> Iterator[Observation]:
    """A refusal because of headers: its status and its code."""
    status, code = call.status == BAD_REQUEST, call.code == HEADER_MISMATCH
    expected = f"status {BAD_REQUEST}: {why}"
    yield observe(status_row, status, call, expected=expected, observed=_said(call))
    expected = f"error {HEADER_MISMATCH}: {why}"
    yield observe(code_row, code, call, expected=expected, observed=_said(call))


def _said(call: Call) -> str:
    message = next(iter(call.messages), None)
    return f"status {call.status}, {message or 'no message'}"
