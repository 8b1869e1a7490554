"""The stored run itself."""

from __future__ import annotations

from typing import Final

from assay.lab.harness.run.run import Run, dump_run

ESCAPES: Final = True


def render(run: Run) -> str:
    return dump_run(run).decode()
