"""The stored run itself."""

from __future__ import annotations

from assay.lab.harness.run.run import Run, dump_run


def render(run: Run) -> str:
    return dump_run(run).decode()
