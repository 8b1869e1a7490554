"""Exit codes: 0 the scenario's steps are done, 1 one failed, 2 wrong usage."""

import asyncio
import logging
import sys
from collections.abc import Sequence
from functools import partial

from assay import AssayError, Client

from .scenario import scenario_named
from .step import StepFailed, take_steps
from .task import BadTask, read_task

TIMEOUT, PATIENCE = 10.0, 45.0
"""Seconds to wait for an answer: suites end a scenario after 30, a matrix waits for servers to start."""


def main(arguments: Sequence[str]) -> int:
    logging.basicConfig(level=logging.WARNING)
    try:
        task = read_task(arguments)
        run = scenario_named(task.scenario) or take_steps
        timeout = PATIENCE if task.reports else TIMEOUT
        asyncio.run(run(partial(Client, task.target, timeout=timeout, name="everything-client"), task))
    except BadTask as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (AssayError, StepFailed) as error:
        print(f"error: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
