"""Judge the bundled everything client with the lab: all client scenarios, on every transport and revision.

Arguments are passed to the lab; `--once` judges each scenario at one revision.

Exit codes: 0 it conforms, 1 it does not, 130 interrupted.
"""

import signal
import sys
from contextlib import ExitStack
from typing import Final

import demo_lab
from judged import TRANSPORTS, terminated

from assay.revisions.registry import DATES

STRICT: Final = "--strict"
"""A violated SHOULD is a failure, too."""


def main(options: list[str]) -> int:
    signal.signal(signal.SIGTERM, terminated)
    revisions = [] if options else [word for date in DATES for word in ("--spec-version", date)]
    with ExitStack() as stack:
        # At the same time, because the scenarios mostly wait.
        runs = [
            stack.enter_context(demo_lab.client_lab_process(transport, (STRICT, *revisions, *options)))
            for transport in TRANSPORTS
        ]
        conforming = [run.show() for run in runs].count(True)
    print(f"\nthe everything client conforms on {conforming} of {len(TRANSPORTS)} transports")
    return 0 if conforming == len(TRANSPORTS) else 1


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
