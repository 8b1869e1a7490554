"""`assay server`: `assay check` under the name of the conformance suite."""

from __future__ import annotations

from . import check
from .check import configure as configure
from .check import execute as execute

__doc__ = check.__doc__  # the help of both is the same
SUMMARY = "the same as `check`, with --url and --command"
GROUP = check.GROUP
USAGE = check.USAGE
