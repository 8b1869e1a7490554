"""Judge an MCP client: it is started by its command for every scenario, with a server of the lab to talk to.

  assay client --command "python my_client.py" --scenario initialize
  assay client --command "python my_client.py" --suite auth --spec-version DATE --jobs 2
  assay client --command "my-client --connect {url}"              the URL goes there, else at the end
  assay client --command "my-client --server-command {server}"    for clients that start stdio servers
  assay client --command "python my_client.py" --transport ws
  assay client --attach           nothing is started: a client that nobody can script may come
  assay client --command "…" --watch src          again after every change

The client finds the name of the scenario in MCP_CONFORMANCE_SCENARIO, the revision to speak in
MCP_CONFORMANCE_PROTOCOL_VERSION, and what it is asked to do in MCP_CONFORMANCE_CONTEXT, as JSON: `steps`, and
other values such as credentials; see docs/judge-clients.md. No shell is involved.
Findings go to standard output, progress to standard error. Results are kept below `results/`, with what the
client wrote.

Exit codes: 0 conforms, 1 does not conform, 2 usage or nothing selected, 3 nothing proved (the client never
came), 4 the client cannot be started, 70 a fault of Assay, 130 interrupted.
"""

from __future__ import annotations

import argparse

from .server import add_results, add_strictness, play_with, seconds

SUMMARY = "judge an MCP client: by the command that starts it"


def configure(parser: argparse.ArgumentParser) -> None:
    _add_subject(parser.add_argument_group("the client"))
    _add_selection(parser.add_argument_group("what is judged"))
    _add_manner(parser.add_argument_group("how it is judged"))
    add_results(parser.add_argument_group("results"))


def _add_subject(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--command", metavar="LINE", help="starts the client; {url} or {server} says where the address goes")
    add("--attach", action="store_true", help="start nothing: print the address and wait for a client")
    add("--transport", choices=("http", "stdio", "ws"), help="default: http; stdio with {server}")


def _add_selection(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--scenario", action="append", default=[], metavar="GLOB", help="e.g. 'auth/*'; repeatable")
    add(
        "--suite",
        default="all",
        metavar="NAME",
        help="all, official, core, extensions, or an area such as auth; `assay list --client` shows them",
    )
    add(
        "--spec-version",
        action="append",
        default=[],
        metavar="DATE",
        help="this revision only; repeatable; default: the newest with a handshake, and the newest without",
    )
    add("--once", action="store_true", help="each scenario at one revision, the newest that has it")


def _add_manner(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--timeout",
        type=seconds,
        metavar="S",
        help="seconds for one scenario, then the client is stopped; default: 30, and 600 with --attach",
    )
    add_strictness(group, "client")


def execute(options: argparse.Namespace) -> int:
    from assay.cli.lab.extra import check_tokens

    check_tokens()
    if options.watch:
        from assay.cli.lab.watching import check_watchable

        check_watchable(options)
    from assay.cli.lab.client_play import ClientPlay

    return play_with(ClientPlay(options), options)
