"""Run the official suite's authorization-server scenarios against `assay authority`.

One of them prints an address for a person to open: it is opened here, and the authority approves by itself.
The client is one without a secret: where an authority also serves those, the suite never sends the secret
that it was given, and a client that has one is rightly refused then.
"""

import argparse
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from interop.official import (
    PACKAGE,
    RESULTS,
    START_TIMEOUT,
    SUITE_TIMEOUT,
    Aborted,
    Exit,
    Run,
    Tally,
    check_tools,
    judge,
    read_tallies,
    stop,
    table,
    tail,
)

CLIENT = "suite"
AUTHORITY = (str(Path(sys.executable).with_name("assay")), "authority", "--port", "0", "--auto-approve")
SUBJECT = (*AUTHORITY, "--client", CLIENT)
RUN = Run("authorization-server", ("authorization",), scenarios=2, successes=3)
CALLBACK_READY = "Callback server started"


@contextmanager
def authority(directory: Path) -> Iterator[str]:
    """Start the authority, give its issuer, and leave no process behind."""
    with (directory / "authority.log").open("wb") as errors:
        process = subprocess.Popen(SUBJECT, stdout=subprocess.PIPE, stderr=errors, start_new_session=True)
        # Whatever hangs is ended, and then so is its output.
        alarm = threading.Timer(START_TIMEOUT, process.kill)
        alarm.start()
        try:
            assert process.stdout is not None
            yield _issuer(process.stdout, alarm)
        finally:
            alarm.cancel()
            stop(process)


def _issuer(stdout: IO[bytes], alarm: threading.Timer) -> str:
    for line in stdout:
        if line.startswith(b"issuer: "):
            alarm.cancel()
            return line.decode().removeprefix("issuer: ").strip()
    raise Aborted(Exit.SERVER_DID_NOT_START, f"the authority named no issuer: {' '.join(SUBJECT)}")


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


def run_suite(node: Path, issuer: str, directory: Path) -> dict[str, Tally]:
    """Let the suite judge the authority, and be the person that it asks for."""
    command = [str(node), str(PACKAGE / "dist" / "index.js"), "authorization", "--url", issuer]
    options = ["--client-id", CLIENT, "--port", str(free_port()), "--output-dir", str(directory)]
    log = directory / "suite.log"
    process = subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    alarm = threading.Timer(SUITE_TIMEOUT, process.kill)
    alarm.start()
    try:
        assert process.stdout is not None
        log.write_text(follow(process.stdout, issuer), "utf-8")
    finally:
        alarm.cancel()
        stop(process)
    tallies = read_tallies(directory, "authorization-server")
    if not tallies:
        raise Aborted(Exit.COULD_NOT_RUN, f"the suite left no checks:\n{tail(log)}")
    return tallies


def follow(stdout: IO[bytes], issuer: str) -> str:
    """Read to the end; open the address when both it and the place where its answer goes are there."""
    said, address, ready = [], None, False
    for raw in stdout:
        line = raw.decode(errors="replace")
        said.append(line)
        ready = ready or CALLBACK_READY in line
        address = line.strip() if line.startswith(f"{issuer}/authorize?") else address
        if ready and address is not None:
            visit(address)
            address = None
    return "".join(said)


def visit(address: str) -> None:
    """What a browser does: follow redirects, straight to this machine."""
    browser = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with browser.open(address, timeout=30) as page:
        page.read()


def judge_authority(node: Path) -> Exit:
    print(f"\n{check_tools(node)}")
    directory = RESULTS / RUN.name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    with authority(directory) as issuer:
        print(f"subject: {' '.join(SUBJECT[1:])}, at {issuer}\n")
        tallies = run_suite(node, issuer, directory)
    faults = judge(RUN, tallies)
    print(table(RUN, tallies, faults))
    return Exit.DOES_NOT_CONFORM if faults else Exit.CONFORMS


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--node", type=Path, default=Path("node"), help="the Node to run the suite with")
    options = parser.parse_args()
    try:
        return judge_authority(options.node)
    except (Aborted, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return error.code if isinstance(error, Aborted) else Exit.COULD_NOT_RUN
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
