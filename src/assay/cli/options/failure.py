"""A failure in a user's code, in one line."""

from __future__ import annotations

import traceback
from pathlib import Path

import assay.bundled

PACKAGE = Path(assay.bundled.__file__).parents[1]


def describe_failure(error: BaseException) -> str:
    """The exception, its first line, and the last line of the user's code that ran."""
    foreign = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    where = f" ({foreign[-1].filename}, line {foreign[-1].lineno})" if foreign else ""
    reason = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {reason}{where}"


def _is_ours(filename: str) -> bool:
    return "importlib" in filename or Path(filename).is_relative_to(PACKAGE)
