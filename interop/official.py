"""Run the official conformance suite against the everything server and count its checks.

The suite's exit code is ignored: a scenario without a check passes, and a WARNING never fails. Every
`checks.json` is read instead, and a run conforms only by its SUCCESS checks.

To judge another revision, add a row to `RUNS`.
Exit codes: 0 conforms, 1 does not conform, 3 could not run, 4 the server did not start, 130 interrupted.
"""

import argparse
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import IO, NoReturn

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results" / "official"
PACKAGE = HERE / "node_modules" / "@modelcontextprotocol" / "conformance"
SERVER = (
    str(Path(sys.executable).with_name("assay")),
    "serve",
    "everything",
    "--transport",
    "http",
    "--port",
    "0",
)

STATUSES = ("SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO")
# Emitted for any scenario that exchanged a message; alone it proves nothing about the scenario's subject.
GENERIC_CHECK = "wire-schema-valid"
OLDEST_NODE = 22
START_TIMEOUT = 30.0
STOP_TIMEOUT = 10.0
# A run takes 2 to 7 seconds; the suite gives each scenario 30.
SUITE_TIMEOUT = 300.0


SKIPPED_ALWAYS = "tasks-status-notifications"
"""The suite has no probe for it; Assay's scenario of that name judges it."""


@dataclass(frozen=True)
class Run:
    """One run of the suite and the minimum that it must prove."""

    name: str
    options: tuple[str, ...]
    scenarios: int
    successes: int
    left_out: str = ""
    """Prefix of scenarios that prove nothing: the suite skips this one always."""


RUNS = (
    Run(
        "required-2026-07-28",
        ("--requirements", "2026-07-28"),
        scenarios=49,
        successes=190,
        left_out=SKIPPED_ALWAYS,
    ),
    Run("required-2025-11-25", ("--requirements", "2025-11-25"), scenarios=33, successes=84),
    Run("all", ("--suite", "all"), scenarios=64, successes=270, left_out=SKIPPED_ALWAYS),
    Run("all-2025-06-18", ("--suite", "all", "--spec-version", "2025-06-18"), scenarios=27, successes=27),
)


class Exit(IntEnum):
    CONFORMS = 0
    DOES_NOT_CONFORM = 1
    COULD_NOT_RUN = 3
    SERVER_DID_NOT_START = 4
    INTERRUPTED = 130


class Aborted(Exception):
    """The server could not be judged; `code` is the exit code."""

    def __init__(self, code: Exit, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass
class Tally:
    """The checks of one scenario, counted by status."""

    counts: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    proved: bool = False

    def add(self, check: Mapping[str, object]) -> None:
        status, name = str(check.get("status")), str(check.get("id"))
        self.counts[status] += 1
        if status == "SUCCESS":
            self.proved = self.proved or name != GENERIC_CHECK
        elif status not in ("SKIPPED", "INFO"):
            self.complaints.append(f"{status} {name}: {check.get('errorMessage', 'no message')}")

    def add_all(self, path: Path) -> None:
        for check in json.loads(path.read_text("utf-8")):
            self.add(check)


def read_tallies(directory: Path, subject: str = "server") -> dict[str, Tally]:
    """Read the results of a run: one directory per scenario, `<subject>-<scenario>-<time>/checks.json`."""
    tallies: dict[str, Tally] = {}
    for path in sorted(directory.glob(f"{subject}-*/checks.json"), key=lambda path: path.stat().st_mtime_ns):
        match = re.fullmatch(rf"{subject}-(.+)-\d{{4}}-\d\d-\d\dT[\d-]+Z", path.parent.name)
        tally = tallies.setdefault(match[1] if match else path.parent.name, Tally())
        tally.add_all(path)
    return tallies


def tally_of(path: Path) -> Tally:
    tally = Tally()
    tally.add_all(path)
    return tally


def scored(run: Run, tallies: Mapping[str, Tally]) -> dict[str, Tally]:
    """The scenarios that count, without those that the suite always skips."""
    left_out = run.left_out or "\0"
    return {name: tally for name, tally in tallies.items() if not name.startswith(left_out)}


def judge(run: Run, tallies: Mapping[str, Tally]) -> list[str]:
    """The faults of a run; it conforms if there are none."""
    faults = []
    for scenario, tally in tallies.items():
        faults += [f"{scenario}: {complaint}" for complaint in tally.complaints]
        if not tally.proved and not tally.complaints:
            faults.append(f"{scenario}: no SUCCESS about its subject")
    if len(tallies) != run.scenarios:
        faults.append(f"{len(tallies)} scenarios ran, expected {run.scenarios}")
    successes = sum(tally.counts["SUCCESS"] for tally in tallies.values())
    if successes < run.successes:
        faults.append(f"{successes} SUCCESS checks, expected at least {run.successes}")
    return faults


def table(run: Run, tallies: Mapping[str, Tally], faults: Sequence[str]) -> str:
    """The run as a text table; zero is shown as a dot."""
    statuses = (
        *STATUSES,
        *sorted({status for tally in tallies.values() for status in tally.counts} - {*STATUSES}),
    )
    total = sum((tally.counts for tally in tallies.values()), Counter[str]())
    rows = [(scenario, tally.counts) for scenario, tally in tallies.items()]
    rows.append((f"{len(tallies)} scenarios", total))
    width = max(len(scenario) for scenario, _ in rows)
    lines = [
        f"{run.name}  ({' '.join(run.options)})",
        "  " + " " * width + "".join(f"{s:>9}" for s in statuses),
    ]
    for scenario, counts in rows:
        lines.append(f"  {scenario:<{width}}" + "".join(f"{counts[s] or '.':>9}" for s in statuses))
    lines += [f"  ! {fault}" for fault in faults]
    lines.append("  does not conform" if faults else "  conforms")
    return "\n".join(lines)


def check_tools(node: Path) -> str:
    """The versions of the suite and of Node.

    Raises:
        Aborted: one of them is missing.
    """
    manifest = PACKAGE / "package.json"
    if not manifest.is_file():
        raise Aborted(Exit.COULD_NOT_RUN, "the suite is not installed: run `make official`")
    try:
        answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        raise Aborted(Exit.COULD_NOT_RUN, f"Node does not run: {error}") from error
    version = answer.stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < OLDEST_NODE:
        raise Aborted(Exit.COULD_NOT_RUN, f"the suite needs Node {OLDEST_NODE} or later: {node} is {version}")
    suite = json.loads(manifest.read_text("utf-8"))
    return f"{suite['name']} {suite['version']} on Node {version}"


def suite_command(node: Path, url: str, options: Sequence[str], directory: Path) -> list[str]:
    begin = [str(node), str(PACKAGE / "dist" / "index.js"), "server", "--url", url]
    return [*begin, *options, "--output-dir", str(directory)]


def run_suite(node: Path, run: Run, url: str, directory: Path) -> dict[str, Tally]:
    """Run the suite on `url`; its exit code is ignored, see the top of this file."""
    directory.mkdir(parents=True)
    command = suite_command(node, url, run.options, directory)
    log = directory / "suite.log"
    try:
        with log.open("wb") as output:
            subprocess.run(
                command, stdout=output, stderr=subprocess.STDOUT, timeout=SUITE_TIMEOUT, check=False
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Aborted(Exit.COULD_NOT_RUN, f"the suite did not finish: {error}") from error
    tallies = read_tallies(directory)
    if not tallies:
        raise Aborted(Exit.COULD_NOT_RUN, f"the suite wrote no checks:\n{tail(log)}")
    return tallies


@contextmanager
def everything_server(directory: Path, words: Sequence[str] = ()) -> Iterator[str]:
    """Start the server in a new process group, yield its endpoint, and stop the group."""
    log = directory / "server.log"
    with log.open("wb") as errors:
        try:
            command = [*SERVER, *words]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, start_new_session=True)
        except OSError as error:
            raise Aborted(Exit.SERVER_DID_NOT_START, f"the server did not start: {error}") from error
        try:
            yield wait_for_endpoint(process, log)
        finally:
            stop(process)


def wait_for_endpoint(process: subprocess.Popen[bytes], log: Path) -> str:
    """Wait for the line with the endpoint. Standard output is drained, or the server would block."""
    assert process.stdout is not None
    endpoints: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=watch, args=(process.stdout, endpoints), daemon=True).start()
    try:
        url = endpoints.get(timeout=START_TIMEOUT)
    except queue.Empty:
        url = None
    if url is None:
        text = f"the server printed no endpoint: {' '.join(SERVER)}\n{tail(log)}"
        raise Aborted(Exit.SERVER_DID_NOT_START, text.rstrip())
    return url


def watch(stdout: IO[bytes], endpoints: queue.Queue[str | None]) -> None:
    """Put the endpoint into the queue when it is printed, and None at the end of output."""
    for line in stdout:
        if match := re.search(rb"MCP endpoint: (http://localhost:\d+\S*)", line):
            endpoints.put(match[1].decode())
    endpoints.put(None)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop the group with SIGTERM, then SIGKILL. The group may outlive its leader."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            print(f"the server ignored {number.name} for {STOP_TIMEOUT:.0f} s", file=sys.stderr)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def tail(log: Path, lines: int = 15) -> str:
    return "\n".join(log.read_text("utf-8", errors="replace").splitlines()[-lines:])


def judge_apart(url: str) -> str | None:
    """Judge the scenario that the suite always skips by our own. Returns what went wrong."""
    command = [SERVER[0], "check", url, "--suite", "everything", "--only", SKIPPED_ALWAYS]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SUITE_TIMEOUT, check=False, cwd=HERE.parent
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Aborted(Exit.COULD_NOT_RUN, f"`assay check` did not finish: {error}") from error
    return None if done.returncode == 0 else f"exit code {done.returncode}\n{done.stdout}"


def judge_all(node: Path, words: Sequence[str] = ()) -> Exit:
    print(check_tools(node))
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir(parents=True)
    outcome = Exit.CONFORMS
    with everything_server(RESULTS, words) as url:
        print(f"subject: {' '.join((*SERVER[1:], *words))}, at {url}")
        for run in RUNS:
            tallies = scored(run, run_suite(node, run, url, RESULTS / run.name))
            faults = judge(run, tallies)
            print(f"\n{table(run, tallies, faults)}", flush=True)
            outcome = Exit.DOES_NOT_CONFORM if faults else outcome
        problem = judge_apart(url)
        print(f"\napart, because the suite always skips it: {SKIPPED_ALWAYS}, judged by `assay check`")
        print("  conforms" if problem is None else f"  does not conform: {problem}", flush=True)
        outcome = Exit.CONFORMS if problem is None and outcome is Exit.CONFORMS else Exit.DOES_NOT_CONFORM
    print(f"\nchecks and logs: {RESULTS}")
    return outcome


def terminated(_signal: int, _frame: object) -> NoReturn:
    # An exception unwinds the context managers, which stop the server.
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--node", type=Path, default=Path("node"), help="the Node executable")
    parser.add_argument(
        "--results", type=Path, default=Path("results/official"), help="emptied, then written"
    )
    more = "further options of `assay serve`, such as `--workers 4 --store sqlite:///state.db`"
    parser.add_argument("words", nargs="*", metavar="-- OPTION …", help=more)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, terminated)
    try:
        return judge_all(options.node, options.words)
    except Aborted as aborted:
        print(f"error: {aborted}", file=sys.stderr)
        return aborted.code
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
