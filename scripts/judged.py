"""Judge the strict reference server and the examples with the lab, on every transport and revision.

`make demo` judges the bundled servers as they are by default. Arguments are passed to the lab.

Exit codes: 0 all conform, 1 one does not, 130 interrupted.
"""

import json
import os
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NoReturn

import demo_lab

REFERENCE: Final = "reference --strict"
SERVERS: Final = (
    REFERENCE,
    "examples/time_server.py",
    "examples/sqlite_server.py",
    "examples/fetch_server.py",
)
TRANSPORTS: Final = ("stdio", "http", "ws")
ARGUMENTS: Final = {"tools": {"long_task": [{"seconds": 0.5}]}}
"""Of its own accord it takes two seconds, for which other scenarios would wait at each revision."""
OPTIONS: Final = ("--strict", "--allow-effects")
"""A violated SHOULD is a failure, too, and scenarios may change the servers' data."""


def terminated(_signal: int, _frame: object) -> NoReturn:
    # An exception unwinds the context managers, which stop the labs.
    raise KeyboardInterrupt


def main(options: list[str]) -> int:
    signal.signal(signal.SIGTERM, terminated)
    with ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ["DATABASE"] = str(data / "example.db")
        arguments = data / "arguments.json"
        arguments.write_text(json.dumps(ARGUMENTS), "utf-8")
        own = {REFERENCE: ("--arguments", str(arguments))}
        # At the same time, because the scenarios mostly wait.
        runs = [
            stack.enter_context(
                demo_lab.lab_process(server, TRANSPORTS, (*OPTIONS, *own.get(server, ()), *options))
            )
            for server in SERVERS
        ]
        conforming = [run.show() for run in runs].count(True)
    print(f"\n{conforming} of {len(SERVERS)} servers conform")
    return 0 if conforming == len(SERVERS) else 1


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
