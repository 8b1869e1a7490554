"""Lines that run a scenario again."""

from __future__ import annotations

import shlex
from typing import Final

from msgspec import Struct

from assay.lab.harness.scripted_server.client import ATTACHED
from assay.lab.harness.trace.frame import Header
from assay.lab.harness.transport import Transport


class Repetition(Struct, frozen=True):
    """How a run was started, as far as it decides what a scenario does."""

    target: str = ""
    """A URL or a file, quoted for a shell; empty if the server is a command."""
    options: tuple[str, ...] = ()
    """Quoted for a shell; credentials are variables."""
    command: str = ""
    """The command of the server, after `--`."""

    def line(self, header: Header) -> str:
        """The command; without a target, that of the header is judged again."""
        on_stdio = header.transport == Transport.STDIO
        subject = shlex.quote(header.subject)
        target, command = self.target, self.command
        if not target and not command:
            target, command = ("", header.subject) if on_stdio else (subject, "")
        words = ["assay check", target, *self.options]
        words += ["--scenario", shlex.quote(header.scenario), "--spec-version", header.revision]
        words += ["--transport", header.transport] if target else []
        return " ".join(filter(None, (*words, f"-- {command}" if command else "")))


NOTHING: Final = Repetition()


def scenario_line(header: Header) -> str:
    if header.again:
        return header.again
    return _client_line(header) if header.role == "client" else NOTHING.line(header)


def _client_line(header: Header) -> str:
    """A client can only be repeated by running its scenario again."""
    is_attached = header.subject == ATTACHED
    target = "--attach" if is_attached else f"--command {shlex.quote(header.subject)}"
    # The command of a stdio client implies the transport.
    implied = (Transport.HTTP,) if is_attached else (Transport.HTTP, Transport.STDIO)
    transport = "" if header.transport in implied else f" --transport {header.transport}"
    scenario = f"--scenario {shlex.quote(header.scenario)} --spec-version {header.revision}"
    return f"assay client {target} {scenario}{transport}"
