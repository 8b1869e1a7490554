"""A form's fields have default values, of their own types."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from assay.lab.everything.declaring import official_check
from assay.lab.everything.forms import Field, Part, judge_form
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

NAME: Final = "elicitation-sep1034"
STATUS: Final = ("active", "inactive", "pending")


def _suggests(kind: str, default: Any, part: Part) -> bool:
    given = part.get("default")
    # In Python True is 1; in JSON it is not.
    same = given == default and isinstance(given, bool) is isinstance(default, bool)
    return part.get("type") == kind and same


def _offers(part: Part) -> bool:
    offered = part.get("enum")
    known = isinstance(offered, list) and all(one in offered for one in STATUS)
    return known and _suggests("string", "active", part)


def _field(name: str, kind: str, default: Any) -> Field:
    return Field(name, partial(_suggests, kind, default), f"type {kind}, default {default!r}")


FIELDS: Final = {
    f"{NAME}-string-default": _field("name", "string", "John Doe"),
    f"{NAME}-integer-default": _field("age", "integer", 30),
    f"{NAME}-number-default": _field("score", "number", 95.5),
    f"{NAME}-enum-default": Field("status", _offers, f"enum {', '.join(STATUS)}, default 'active'"),
    f"{NAME}-boolean-default": _field("verified", "boolean", True),
}


@official_check(f"{NAME}-defaults", "A form's fields have default values", rows=(f"{NAME}-general", *FIELDS))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_form(trace, "test_elicitation_sep1034_defaults", f"{NAME}-general", FIELDS)
