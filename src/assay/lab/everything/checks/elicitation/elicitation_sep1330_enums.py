"""A form offers choices in each of the ways that there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.everything.declaring import official_check
from assay.lab.everything.forms import Field, Part, judge_form
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

NAME: Final = "elicitation-sep1330"


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def _titled(value: Any) -> bool:
    """A list of `{const, title}`, both texts."""
    options = value if isinstance(value, list) else []
    return bool(options) and all(
        isinstance(one, dict) and isinstance(one.get("const"), str) and isinstance(one.get("title"), str)
        for one in options
    )


def _items(part: Part) -> Part:
    items = part.get("items")
    return items if part.get("type") == "array" and isinstance(items, dict) else {}


def _untitled_single(part: Part) -> bool:
    return (
        part.get("type") == "string" and _texts(part.get("enum")) and not {"oneOf", "enumNames"} & part.keys()
    )


def _titled_single(part: Part) -> bool:
    return part.get("type") == "string" and _titled(part.get("oneOf")) and "enum" not in part


def _named_beside(part: Part) -> bool:
    values, names = part.get("enum"), part.get("enumNames")
    both = _texts(values) and _texts(names) and len(values or ()) == len(names or ())
    return part.get("type") == "string" and both


def _untitled_multi(part: Part) -> bool:
    items = _items(part)
    return items.get("type") == "string" and _texts(items.get("enum")) and "anyOf" not in items


def _titled_multi(part: Part) -> bool:
    items = _items(part)
    return _titled(items.get("anyOf")) and "enum" not in items


FIELDS: Final = {
    f"{NAME}-untitled-single": Field("untitledSingle", _untitled_single, "a string with `enum`"),
    f"{NAME}-titled-single": Field(
        "titledSingle", _titled_single, "a string with `oneOf` of const and title"
    ),
    f"{NAME}-legacy-enumnames": Field(
        "legacyEnum", _named_beside, "a string with `enum` and as many `enumNames`"
    ),
    f"{NAME}-untitled-multi": Field("untitledMulti", _untitled_multi, "an array of strings with `enum`"),
    f"{NAME}-titled-multi": Field("titledMulti", _titled_multi, "an array with `anyOf` of const and title"),
}


@official_check(f"{NAME}-enums", "A form offers choices in every way", rows=(f"{NAME}-general", *FIELDS))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_form(trace, "test_elicitation_sep1330_enums", f"{NAME}-general", FIELDS)
