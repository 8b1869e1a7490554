"""A list of a server: lines for people, one JSON object for programs, and a line about the server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from assay.cli.exit_code import ExitCode

from .layout import width
from .offer import counted, pretty, server_line
from .stream import emit, emit_lines, say

if TYPE_CHECKING:
    from assay.client.client import Client

Lines = Callable[[Any, int | None], Iterator[str]]


def show_items(client: Client, field: str, items: Sequence[Any], lines: Lines, as_json: bool) -> ExitCode:
    """`field` is the name of the list in the protocol, such as `tools`."""
    if as_json:
        emit(f"{pretty({field: msgspec.to_builtins(list(items))})}\n")
        return ExitCode.OK
    if sys.stderr.isatty() or not items:
        noun = {"resourceTemplates": "resource template"}.get(field, field.removesuffix("s"))
        say(server_line(client, counted(len(items), noun)))
    columns = width()
    emit_lines(line for item in items for whole in lines(item, columns) for line in whole.split("\n"))
    return ExitCode.OK
