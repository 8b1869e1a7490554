"""Run the official suite's authorization-server scenarios against `assay authority`.

One of them prints an address for a person to open: it is opened here, and the authority approves
automatically. The client has no secret: the suite does not send one to an authority that also accepts public
clients, and a client with a secret would be refused.
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
    """Start the authority, yield its issuer, and stop it."""
    with (directory / "authority.log").open("wb") as errors:
        process = subprocess.Popen(SUBJECT, stdout=subprocess.PIPE, stderr=errors, start_new_session=True)
        # Killing a hanging process also ends its output.
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
    raise Aborted(Exit.SERVER_DID_NOT_START, f"the authority printed no issuer: {' '.join(SUBJECT)}")


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


def run_suite(node: Path, issuer: str, directory: Path) -> dict[str, Tally]:
    """Run the suite on the authority, and open the address that it prints."""
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
        raise Aborted(Exit.COULD_NOT_RUN, f"the suite wrote no checks:\n{tail(log)}")
    return tallies


def follow(stdout: IO[bytes], issuer: str) -> str:
    """Read to the end; open the address when it is printed and its callback server runs."""
    lines, address, ready = [], None, False
    for raw in stdout:
        line = raw.decode(errors="replace")
        lines.append(line)
        ready = ready or CALLBACK_READY in line
        address = line.strip() if line.startswith(f"{issuer}/authorize?") else address
        if ready and address is not None:
            open_address(address)
            address = None
    return "".join(lines)


def open_address(address: str) -> None:
    """Follow redirects like a browser, without a proxy."""
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
    parser.add_argument("--node", type=Path, default=Path("node"), help="the Node executable")
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
