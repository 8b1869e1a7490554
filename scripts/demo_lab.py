"""The lab in a separate process, on a server or on the bundled everything client."""

import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import IO, Final

import demo_show as show

ASSAY: Final = (sys.executable, "-m", "assay")
CLIENT: Final = (sys.executable, "-m", "assay.bundled.everything_client")
# Most scenarios wait most of the time, for an announced pause or for messages that must not come.
JOBS: Final = "8"
QUIET: Final = ("ok ", "n/a ")
"""Prefixes of progress lines that are not shown."""


class LabProcess:
    """A running lab, with its output in files."""

    def __init__(self, subject: str, words: Sequence[str], report: IO[bytes], talk: IO[bytes]) -> None:
        self.subject = subject
        self._command = (*ASSAY, *words, "--jobs", JOBS, "--format", "matrix")
        self._report = report
        self._talk = talk
        # In a new session, so that Ctrl-C reaches only the demo, which then stops this.
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=report, stderr=talk, start_new_session=True
        )

    def stop(self) -> None:
        """Terminate it; it stops the processes that it started."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()

    def show(self) -> bool:
        """Wait for the end and show the result; returns whether the subject conforms."""
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


def lab_process(
    server: str, transports: Sequence[str], options: Sequence[str]
) -> AbstractContextManager[LabProcess]:
    """Judge a server in a process that is stopped at the end."""
    places = [word for transport in transports for word in ("--transport", transport)]
    return _started(server, ("server", server, *places, *options))


def client_lab_process(transport: str, options: Sequence[str]) -> AbstractContextManager[LabProcess]:
    """The same for the bundled everything client."""
    command = (*CLIENT, "{server}") if transport == "stdio" else CLIENT
    words = ("client", "--command", shlex.join(command), "--transport", transport, *options)
    return _started("the everything client", words)


@contextmanager
def _started(subject: str, words: Sequence[str]) -> Iterator[LabProcess]:
    with tempfile.TemporaryFile() as report, tempfile.TemporaryFile() as talk:
        run = LabProcess(subject, words, report, talk)
        try:
            yield run
        finally:
            run.stop()
