"""Elicitations say what they want, and forms are flat and plain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import ELICIT, Question, questions
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

MODES: Final = ("form", "url")
PRIMITIVE: Final = ("string", "number", "integer", "boolean")
LINK: Final = re.compile(r"\bhttps?://", re.IGNORECASE)


@check("Elicitations are complete, and forms are flat", rows=("EL-04", "EL-06", "EL-31"))
def judge(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, ELICIT):
        message = question.params.get("message")
        yield observe(
            "EL-04",
            isinstance(message, str) and question.mode in MODES,
            question,
            expected="a `message`, and for `mode` form or url",
            observed=f"message {message!r}, mode {question.mode!r}",
        )
        if question.mode == "form":
            yield from _form(question, several=trace.revision.multi_select)


def _form(question: Question, *, several: bool) -> Iterator[Observation]:
    schema = question.params.get("requestedSchema")
    problem = form_problem(schema, several=several)
    expected = "a `requestedSchema` of one flat object with plain fields"
    yield observe("EL-06", problem is None, question, expected=expected, observed=problem)
    texts = [question.params.get("message"), schema.get("title") if isinstance(schema, dict) else None]
    links = [text for text in texts if isinstance(text, str) and LINK.search(text)]
    expected = "no link in a form: for pages there is the url mode"
    yield observe("EL-31", not links, question, expected=expected, observed=", ".join(links))


def form_problem(schema: Any, *, several: bool) -> str | None:
    """Why a schema is no form; `several` if a field may take more than one of the values it offers."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return f"requestedSchema {str(schema)[:80]}"
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return f"properties {str(fields)[:80]}"
    bad = [name for name, part in fields.items() if not _is_plain(part, several=several)]
    return f"{bad[0]}: {str(fields[bad[0]])[:80]}" if bad else None


def _is_plain(part: Any, *, several: bool) -> bool:
    if not isinstance(part, dict):
        return False
    if part.get("type") == "array":
        items = part.get("items")
        return several and isinstance(items, dict) and bool({"enum", "anyOf", "oneOf"} & items.keys())
    return part.get("type") in PRIMITIVE
