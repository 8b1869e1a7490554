"""Validators for JSON documents, composed from small functions; they report all issues at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

Validator = Callable[[Any, str], Iterator["Issue"]]
"""Checks a value at a path."""
Others = Literal["allowed", "warned"]
"""How a record treats unknown members."""


class Issue(Struct, frozen=True):
    """An issue of a document, with the fields that the official registry uses."""

    type: Literal["json", "schema", "semantic", "linter"]
    path: str
    message: str
    severity: Literal["error", "warning", "info"] = "error"

    def __str__(self) -> str:
        word = "FAILURE" if self.severity == "error" else self.severity.upper()
        return f"{word} {self.path or 'the document'}: {self.message}"


class ValidationReport(Struct, frozen=True):
    valid: bool
    issues: list[Issue]


def validation_report(issues: list[Issue]) -> ValidationReport:
    return ValidationReport(all(issue.severity != "error" for issue in issues), issues)


def text(
    least: int = 0, most: int | None = None, pattern: str | None = None, description: str = ""
) -> Validator:
    def check(value: Any, path: str) -> Iterator[Issue]:
        if not isinstance(value, str):
            yield _issue(path, f"must be a string, not {_json_type(value)}")
        elif len(value) < least or (most is not None and len(value) > most):
            yield _issue(path, f"must have {least} to {most or 'any number of'} characters, not {len(value)}")
        elif pattern is not None and re.fullmatch(pattern, value) is None:
            yield _issue(path, f"must be {description}, not {value[:80]!r}")

    return check


digest: Final = text(pattern=r"sha256:[0-9a-f]{64}", description="a digest such as sha256:<64 hex>")


def one_of(*words: str) -> Validator:
    def check(value: Any, path: str) -> Iterator[Issue]:
        if value not in words:
            yield _issue(path, f"must be one of {', '.join(words)}, not {str(value)[:80]!r}")

    return check


def flag(value: Any, path: str) -> Iterator[Issue]:
    if not isinstance(value, bool):
        yield _issue(path, f"must be true or false, not {_json_type(value)}")


def count(value: Any, path: str) -> Iterator[Issue]:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        yield _issue(path, f"must be a non-negative integer, not {str(value)[:80]}")


def anything(value: Any, path: str) -> Iterator[Issue]:
    yield from ()


def many(validator: Validator, most: int = 1000) -> Validator:
    def all_of(value: Any, path: str) -> Iterator[Issue]:
        if not isinstance(value, list):
            yield _issue(path, f"must be an array, not {_json_type(value)}")
        elif len(value) > most:
            yield _issue(path, f"must have at most {most} items, not {len(value)}")
        else:
            for place, item in enumerate(value):
                yield from validator(item, f"{path}[{place}]")

    return all_of


def table(validator: Validator) -> Validator:
    """An object with arbitrary keys whose values all pass the same validator."""

    def every(value: Any, path: str) -> Iterator[Issue]:
        if not isinstance(value, dict):
            yield _issue(path, f"must be an object, not {_json_type(value)}")
            return
        for name, member in value.items():
            yield from validator(member, _join(path, name))

    return every


def record(
    required: Mapping[str, Validator],
    optional: Mapping[str, Validator] | None = None,
    others: Others = "allowed",
) -> Validator:
    known = {**required, **(optional or {})}

    def members(value: Any, path: str) -> Iterator[Issue]:
        if not isinstance(value, dict):
            yield _issue(path, f"must be an object, not {_json_type(value)}")
            return
        for name in required:
            if name not in value:
                yield _issue(_join(path, name), "is missing")
        for name, member in value.items():
            if name in known:
                yield from known[name](member, _join(path, name))
            elif others == "warned":
                yield Issue("schema", _join(path, name), "is unknown", "warning")

    return members


def both(*checks: Validator) -> Validator:
    def each(value: Any, path: str) -> Iterator[Issue]:
        for check in checks:
            yield from check(value, path)

    return each


def _issue(path: str, message: str) -> Issue:
    return Issue("schema", path, message)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _json_type(value: Any) -> str:
    """The name of its JSON type."""
    kinds = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")
