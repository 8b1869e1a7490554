"""Proves the fuzzer: it finds each planted fault within a minute, and nothing in the bundled servers.

python -m scripts.fuzz_proof         a minute for each bundled server on each transport
python -m scripts.fuzz_proof 600     ten minutes
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
FAULTY: Final = ROOT / "tests" / "lab" / "fuzz" / "faulty.py"
# Fault → the check that must find it, and the number of steps of the shrunk case.
PLANTED: Final = {
    "surrogate": ("fuzz.alive", 1),
    "empty-name": ("fuzz.goes-on", 1),
    "load": ("jsonrpc.reply-id", 3),
}
BUNDLED: Final = [
    (server, transport) for server in ("everything", "reference") for transport in ("stdio", "http", "ws")
]
SEED: Final = "1"
LIMIT: Final = 60.0


class Row(NamedTuple):
    subject: str
    result: str
    seconds: float
    good: bool


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else LIMIT
    rows = [*map(planted, PLANTED), *(bundled(*pair, seconds) for pair in BUNDLED)]
    print("\n| subject | result | seconds | |\n|---|---|---|---|")
    for row in rows:
        print(f"| {row.subject} | {row.result} | {row.seconds:.0f} | {'ok' if row.good else 'NOT OK'} |")
    return 0 if all(row.good for row in rows) else 1


def planted(fault: str) -> Row:
    """A fault counts as found if the right check reports a case of the right size in time."""
    from assay.revisions.registry import HANDSHAKE

    command = shlex.join((sys.executable, str(FAULTY), fault))
    check, steps = PLANTED[fault]
    options = ("--command", command, "--spec-version", HANDSHAKE[-1].date, "--timeout", "5")
    begin = time.monotonic()
    _, run = fuzz(*options, seconds=LIMIT / 3)
    took = time.monotonic() - begin
    cells = [cell for cell in run["cells"] if check in (broken["id"] for broken in _bad(cell))]
    sizes = [_steps(cell) for cell in cells]
    result = f"{check}, cases of {', '.join(map(str, sizes))} steps" if sizes else "not found"
    return Row(f"planted: {fault}", result, took, steps in sizes and took < LIMIT)


def _bad(cell: dict[str, Any]) -> list[dict[str, Any]]:
    return [check for check in cell.get("checks", ()) if check["verdict"] in ("FAILURE", "WARNING")]


def _steps(cell: dict[str, Any]) -> int:
    from assay.lab.fuzz.case import parse_case

    line = _bad(cell)[0]["findings"][0]["reproduce"]
    return len(parse_case(line.rpartition("--case ")[2]).steps)


def bundled(server: str, transport: str, seconds: float) -> Row:
    begin = time.monotonic()
    code, run = fuzz(server, "--transport", transport, "--allow-effects", seconds=seconds)
    findings = [check["id"] for cell in run["cells"] for check in _bad(cell)]
    result = ", ".join(findings) or "no finding"
    return Row(f"{server} on {transport}", result, time.monotonic() - begin, code == 0 and not findings)


def fuzz(*options: str, seconds: float) -> tuple[int, dict[str, Any]]:
    """Run the command as a user would; returns its exit code and the stored run."""
    with tempfile.TemporaryDirectory() as home:
        command = (sys.executable, "-m", "assay", "server", *options, "--suite", "fuzz")
        limits = ("--seconds", f"{seconds:g}", "--seed", SEED)
        print(f"$ {shlex.join(('assay', 'server', *options, *limits))}", flush=True)
        output = ("--output", home, "--format", "json")
        done = subprocess.run((*command, *limits, *output), stdout=subprocess.PIPE, check=False, text=True)
    return done.returncode, json.loads(done.stdout or '{"cells": []}')


if __name__ == "__main__":
    sys.exit(main())
