"""Judge an MCP client: each scenario starts it with its command, and a server of the lab to connect to.

examples:
  assay check --client -- python my_client.py                  the URL is added at the end
  assay check --client "my-client --connect {url}"             the URL goes where {url} is
  assay check --client "my-client --server-command {server}"   for clients that start stdio servers
  assay check --client "python my_client.py" --transport ws
  assay check --client "python my_client.py" --suite auth --spec-version DATE --jobs 2
  assay check --client --attach                                start nothing: connect any client by hand
  assay check --client "python my_client.py" --watch src       again after every change
  assay client --command "python my_client.py"                 the same under another name

The client finds the scenario's name in MCP_CONFORMANCE_SCENARIO, the revision to speak in
MCP_CONFORMANCE_PROTOCOL_VERSION, and in MCP_CONFORMANCE_CONTEXT a JSON object with the `steps` to take and
further data of the scenario, such as credentials: see docs/judge-clients.md. Exit status 127 of the client
means that it cannot do this, which is then not applicable. No shell runs the command.
Findings go to standard output, progress to standard error, results and the client's output to `results/`.

exit codes:
  0 conforms, 1 does not conform, 2 wrong usage or nothing selected, 3 nothing proved (the client never
  connected), 4 the client cannot be started or fails before it connects, 70 a fault of Assay, 130 interrupted
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.cli.options.run import add_results, add_scenarios, add_strictness, run_options
from assay.cli.options.subject import command_from, single_word
from assay.cli.options.value import seconds

from .check import show
from .exit_code import CommandFailed, ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from assay.lab.options import ClientOptions

SUMMARY = "the same as `check --client`, with --command"
GROUP = "judge"
USAGE = "[options] -- COMMAND [ARGUMENT …]"


def configure(parser: Parser) -> None:
    parser.takes_command = True
    _add_subject(parser.add_argument_group("client"))
    _add_selection(parser.add_argument_group("selection"))
    _add_manner(parser.add_argument_group("execution"))
    add_results(parser.add_argument_group("results"))


def _add_subject(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("target", metavar="COMMAND", nargs="*", help="quoted command that starts the client")
    add("--command", metavar="LINE", help="the same; {url} or {server} is replaced by the address")
    add("--attach", action="store_true", help="start nothing: print the address and wait for a client")
    transport = "http, stdio or ws; default: http, or stdio with {server}"
    add("--transport", choices=("http", "stdio", "ws"), metavar="T", help=transport)


def _add_selection(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add_scenarios(group, "auth/*")
    suite = "all, official, core, extensions, or an area such as auth; default: all"
    add("--suite", default="all", metavar="NAME", help=suite)
    revision = "only this revision; repeatable; default: the newest with and without handshake"
    add("--spec-version", action="append", default=[], metavar="DATE", help=revision)
    add("--once", action="store_true", help="each scenario at one revision, the newest that has it")


def _add_manner(group: argparse._ArgumentGroup) -> None:
    timeout = "seconds for one scenario; default: 30, and 600 with --attach"
    group.add_argument("--timeout", type=seconds, metavar="S", help=timeout)
    add_strictness(group, "client")


def execute(options: argparse.Namespace) -> int:
    from assay.lab.extra import require_tokens

    require_tokens()
    from assay.lab import ClientOptions, follow_client

    values = {
        **run_options(options),
        "suite": options.suite,
        "transport": options.transport,
        "timeout": options.timeout,
        "once": options.once,
    }
    words = command(options)
    if options.attach:
        return attach(ClientOptions(**values), options)
    return show(lambda first: follow_client(words, ClientOptions(**values, first=first)), options)


def command(options: argparse.Namespace) -> tuple[str, ...]:
    """
    Raises:
        CommandFailed: the client is missing, or given twice.
    """
    from assay.lab.target import parse_command

    words, text = command_from(options), single_word(options)
    if words and text is not None:
        raise CommandFailed(ExitCode.USAGE, "the command is given twice", "write it once, after `--`")
    words = words if text is None else parse_command(text)
    if options.attach and (words or options.watch):
        problem = "--attach starts nothing"
        raise CommandFailed(ExitCode.USAGE, problem, "leave out --attach, or the command and --watch")
    if not words and not options.attach:
        hint = "give the command that starts it after `--`, or --attach"
        raise CommandFailed(ExitCode.USAGE, "no client to judge", hint)
    return words


def attach(values: ClientOptions, options: argparse.Namespace) -> int:
    import asyncio

    from assay.cli.output.attach import Attach
    from assay.cli.output.run import show_run
    from assay.lab import follow_client

    person = Attach()
    live = follow_client(person.invite, values)
    return asyncio.run(show_run(live, options.format, person.interrupt(live.interrupt)))
