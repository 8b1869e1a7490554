"""Values of a user's own subject that change by themselves, as `golden.toml` declares them:

[[volatile]]
name = "build"                        # stands in the trace in place of the value
reason = "counts up with every build"
pointers = ["/result/content/*/text", "/**/build"]   # JSON Pointers into messages; * and ** are steps
headers = ["X-Build"]                 # of HTTP
method = "ignore"                     # any value will do; or "name": the same must stay the same
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from .normaliser import Method, Volatile


class BadGolden(ValueError):
    """A golden run, or what is declared for it, cannot be used; the text says why."""


class Rules(Struct, frozen=True):
    values: tuple[Volatile, ...] = ()

    def and_ignore(self, pointers: Iterable[str]) -> Rules:
        """
        Raises:
            BadGolden: one is no pointer.
        """
        given = tuple(pointers)
        if not given:
            return self
        ignored = Volatile("ignored", "given with --golden-ignore", Method.IGNORE, pointers=given)
        return Rules((*self.values, _checked(ignored, "--golden-ignore")))


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    volatile: tuple[Volatile, ...] = ()


def read_rules(path: Path) -> Rules:
    """Those of a file; none where there is no file.

    Raises:
        BadGolden: it cannot be read, or declares something else.
    """
    try:
        stored = msgspec.convert(tomllib.loads(path.read_text("utf-8")), _File)
    except FileNotFoundError:
        return Rules()
    except OSError as error:
        raise BadGolden(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadGolden(f"{path}: not TOML: {error}") from error
    except msgspec.ValidationError as error:
        raise BadGolden(f"{path}: {error}") from error
    return Rules(tuple(_checked(one, str(path)) for one in stored.volatile))


def _checked(rule: Volatile, place: str) -> Volatile:
    try:
        _ = rule.steps
    except ValueError as error:
        raise BadGolden(f"{place}: {error}") from error
    return rule
