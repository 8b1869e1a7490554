"""Targets: which server is judged, and how it is reached."""

from __future__ import annotations

from assay.model.error import InvalidTarget
from assay.transport import target as shared
from assay.transport.target import BUNDLED as BUNDLED
from assay.transport.target import Command as Command
from assay.transport.target import Served as Served
from assay.transport.target import Target as Target
from assay.transport.target import Url as Url

from .error import InvalidOptions


def parse_target(text: str) -> Target:
    """Tell a URL, a Python server and a command apart: see `assay.transport.target`.

    Raises:
        InvalidOptions: nothing fits, or the file or module does not exist.
    """
    try:
        return shared.parse_target(text)
    except InvalidTarget as error:
        raise InvalidOptions(error.problem, error.fix) from error


def parse_command(line: str) -> tuple[str, ...]:
    """Split a command line as a shell would.

    Raises:
        InvalidOptions: a quote is not closed, it is empty, or it begins with an assignment.
    """
    try:
        return shared.parse_command(line)
    except InvalidTarget as error:
        raise InvalidOptions(error.problem, error.fix) from error
