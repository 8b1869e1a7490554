"""Commands that show one list of a server."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from assay.cli.parser import Parser

from .connection import add_connection, connection_from, refuse_more, split_words

if TYPE_CHECKING:
    from assay.cli.output.lists import Lines
    from assay.client.client import Client


def add_list(parser: Parser) -> None:
    add_connection(parser)
    parser.add_argument_group("output").add_argument("--json", action="store_true", help="print JSON")


def run_list(
    options: argparse.Namespace,
    read: Callable[[Client], Awaitable[Sequence[Any]]],
    field: str,
    lines: Lines,
) -> int:
    target, words = split_words(options)
    refuse_more(words)
    connection = connection_from(options, target)
    from .launch import run

    async def show(client: Client) -> int:
        from assay.cli.output.lists import show_items

        return show_items(client, field, await read(client), lines, options.json)

    return run(connection, show)
