"""The shipped suite, loaded when somebody needs it."""

from __future__ import annotations

from functools import cache

from assay.lab.harness.catalogue import Suite, load_suite


@cache
def shipped() -> Suite:
    return load_suite(__package__)
