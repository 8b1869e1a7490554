"""The lab at work: the protocol suite against a bundled server, in a process beside the conversations."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Final

import demo_show as show

COMMAND: Final = (sys.executable, "-m", "assay", "server")
QUIET: Final = ("ok ", "n/a ")
"""How lines of progress begin that need nobody's attention."""


class Judging:
    """A run under way. What it writes goes to files: nobody reads along."""

    def __init__(self, server: str, options: Sequence[str], report: IO[bytes], talk: IO[bytes]) -> None:
        self.server = server
        self._command = (*COMMAND, server, *options, "--format", "matrix")
        self._report = report
        self._talk = talk
        # In a session of its own, so that Ctrl-C reaches the demo only, which then stops this.
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=report, stderr=talk, start_new_session=True
        )

    def stop(self) -> None:
        """Ask it to end: it stops the servers that it has started."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()

    def show(self) -> bool:
        """Wait for the end, and show what came of it; whether the server conforms."""
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
            show.fault(f"the lab ended with exit code {code}; `assay report` tells more of the stored run")
        return code == 0


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


@contextmanager
def judging(server: str, transports: Sequence[str], options: Sequence[str]) -> Iterator[Judging]:
    """Start to judge a server; whoever leaves early stops that."""
    places = [word for transport in transports for word in ("--transport", transport)]
    with tempfile.TemporaryFile() as report, tempfile.TemporaryFile() as talk:
        run = Judging(server, (*places, *options), report, talk)
        try:
            yield run
        finally:
            run.stop()
