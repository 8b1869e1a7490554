"""Forms that a JSON document should have, as values; all that is wrong with one is told at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

Check = Callable[[Any, str], Iterator["Issue"]]
"""Takes a value and the path to it."""
Others = Literal["allowed", "warned"]
"""What becomes of members that a form does not name."""


class Issue(Struct, frozen=True):
    """One thing that is wrong with a document, in the shape that the official registry tells it."""

    type: Literal["json", "schema", "semantic", "linter"]
    path: str
    message: str
    severity: Literal["error", "warning", "info"] = "error"

    def __str__(self) -> str:
        word = "FAILURE" if self.severity == "error" else self.severity.upper()
        return f"{word} {self.path or 'the document'}: {self.message}"


class Report(Struct, frozen=True):
    valid: bool
    issues: list[Issue]


def report(issues: list[Issue]) -> Report:
    return Report(all(issue.severity != "error" for issue in issues), issues)


def text(least: int = 0, most: int | None = None, pattern: str | None = None, told: str = "") -> Check:
    def check(value: Any, path: str) -> Iterator[Issue]:
        if not isinstance(value, str):
            yield wrong(path, f"must be a string, not {name_of(value)}")
        elif len(value) < least or (most is not None and len(value) > most):
            yield wrong(path, f"must have {least} to {most or 'any number of'} characters, not {len(value)}")
        elif pattern is not None and re.fullmatch(pattern, value) is None:
            yield wrong(path, f"must be {told}, not {value[:80]!r}")

    return check


digest: Final = text(pattern=r"sha256:[0-9a-f]{64}", told="a digest as sha256:<64 hex>")


def one_of(*words: str) -> Check:
    def check(value: Any, path: str) -> Iterator[Issue]:
        if value not in words:
            yield wrong(path, f"must be one of {', '.join(words)}, not {str(value)[:80]!r}")

    return check


def flag(value: Any, path: str) -> Iterator[Issue]:
    if not isinstance(value, bool):
        yield wrong(path, f"must be true or false, not {name_of(value)}")


def count(value: Any, path: str) -> Iterator[Issue]:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        yield wrong(path, f"must be a whole number from 0, not {str(value)[:80]}")


def anything(value: Any, path: str) -> Iterator[Issue]:
    yield from ()


def many(check: Check, most: int = 1000) -> Check:
    def all_of(value: Any, path: str) -> Iterator[Issue]:
        if not isinstance(value, list):
            yield wrong(path, f"must be an array, not {name_of(value)}")
        elif len(value) > most:
            yield wrong(path, f"must have at most {most} items, not {len(value)}")
        else:
            for place, item in enumerate(value):
                yield from check(item, f"{path}[{place}]")

    return all_of


def table(check: Check) -> Check:
    """An object whose members are all of one form, whatever they are called."""

    def every(value: Any, path: str) -> Iterator[Issue]:
        if not isinstance(value, dict):
            yield wrong(path, f"must be an object, not {name_of(value)}")
            return
        for name, member in value.items():
            yield from check(member, join(path, name))

    return every


def record(
    required: Mapping[str, Check], optional: Mapping[str, Check] | None = None, others: Others = "allowed"
) -> Check:
    known = {**required, **(optional or {})}

    def members(value: Any, path: str) -> Iterator[Issue]:
        if not isinstance(value, dict):
            yield wrong(path, f"must be an object, not {name_of(value)}")
            return
        for name in required:
            if name not in value:
                yield wrong(join(path, name), "is missing")
        for name, member in value.items():
            if name in known:
                yield from known[name](member, join(path, name))
            elif others == "warned":
                yield Issue("schema", join(path, name), "is not known here", "warning")

    return members


def both(*checks: Check) -> Check:
    def each(value: Any, path: str) -> Iterator[Issue]:
        for check in checks:
            yield from check(value, path)

    return each


def wrong(path: str, message: str) -> Issue:
    return Issue("schema", path, message)


def join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def name_of(value: Any) -> str:
    """As JSON calls it."""
    kinds = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")
