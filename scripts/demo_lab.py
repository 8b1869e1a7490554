"""The lab: the protocol suite against a bundled server, in a process beside the conversations."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Final

import demo_show as show

COMMAND: Final = (sys.executable, "-m", "assay", "server")
# Most scenarios wait most of the time, for an announced pause or for messages that must not come.
JOBS: Final = "8"
QUIET: Final = ("ok ", "n/a ")
"""Prefixes of progress lines that are not shown."""


class LabProcess:
    """A running lab, with its output in files."""

    def __init__(self, server: str, options: Sequence[str], report: IO[bytes], talk: IO[bytes]) -> None:
        self.server = server
        self._command = (*COMMAND, server, "--jobs", JOBS, *options, "--format", "matrix")
        self._report = report
        self._talk = talk
        # In a new session, so that Ctrl-C reaches only the demo, which then stops this.
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=report, stderr=talk, start_new_session=True
        )

    def stop(self) -> None:
        """Terminate it; it stops the servers that it started."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()

    def show(self) -> bool:
        """Wait for the end and show the result; returns whether the server conforms."""
        code = self._process.wait()
        show.heading(" ".join(("assay", *self._command[3:])))
        talk = _text(self._talk).splitlines()
        for line in talk:
            if code and not line.startswith(QUIET):
                show.remark(line)
        for line in _text(self._report).splitlines():
            print(f"  {line}" if line else "")
        print(f"  {talk[-1] if talk else ''}")
        if code:
            show.fault(f"the lab ended with exit code {code}; `assay report` shows the stored run")
        return code == 0


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


@contextmanager
def lab_process(server: str, transports: Sequence[str], options: Sequence[str]) -> Iterator[LabProcess]:
    """Judge a server in a process that is stopped at the end."""
    places = [word for transport in transports for word in ("--transport", transport)]
    with tempfile.TemporaryFile() as report, tempfile.TemporaryFile() as talk:
        run = LabProcess(server, (*places, *options), report, talk)
        try:
            yield run
        finally:
            run.stop()
