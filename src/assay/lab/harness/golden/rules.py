"""Volatile values of the user's subject, as `golden.toml` declares them:

[[volatile]]
name = "build"                        # replaces the value in the trace
reason = "counts up with every build"
pointers = ["/result/content/*/text", "/**/build"]   # JSON Pointers into messages; * and ** are wildcards
headers = ["X-Build"]                 # HTTP headers
method = "ignore"                     # accept any value; or "name": equal values must stay equal
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from assay.lab.harness.bounded_toml import LARGEST, BadToml, parse_toml
from assay.lab.harness.trace.regular_file import UnfitFile, read_regular

from .normaliser import Method, Volatile


class BadGolden(ValueError):
    """A golden run or its `golden.toml` is invalid."""


class Rules(Struct, frozen=True):
    values: tuple[Volatile, ...] = ()

    def and_ignore(self, pointers: Iterable[str]) -> Rules:
        """
        Raises:
            BadGolden: a pointer is invalid.
        """
        ignored_pointers = tuple(pointers)
        if not ignored_pointers:
            return self
        ignored = Volatile("ignored", "given with --golden-ignore", Method.IGNORE, pointers=ignored_pointers)
        return Rules((*self.values, _checked(ignored, "--golden-ignore")))


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    volatile: tuple[Volatile, ...] = ()


def read_rules(path: Path) -> Rules:
    """The rules of a file; empty if it does not exist.

    Raises:
        BadGolden: the file cannot be read, or is invalid.
    """
    try:
        stored = msgspec.convert(parse_toml(read_regular(path, LARGEST)), _File)
    except FileNotFoundError:
        return Rules()
    except OSError as error:
        raise BadGolden(f"{path}: {error.strerror}") from error
    except (BadToml, UnfitFile, msgspec.ValidationError) as error:
        raise BadGolden(f"{path}: {error}") from error
    return Rules(tuple(_checked(rule, str(path)) for rule in stored.volatile))


def _checked(rule: Volatile, place: str) -> Volatile:
    try:
        _ = rule.steps
    except ValueError as error:
        raise BadGolden(f"{place}: {error}") from error
    return rule
