"""Judge an MCP server: by URL, by command, or from a Python file.

  assay server --url http://localhost:3000/mcp
  assay server --command "python my_server.py"
  assay server my_server.py:server --transport http
  assay server everything --transport stdio --transport http --transport ws
  assay server --url URL --scenario 'tools-*' --spec-version DATE
  assay server --url URL --authority http://127.0.0.1:9000    a protected server, with tokens from there
  assay server --url URL --suite everything          the official scenarios, on a server with their fixtures
  assay server TARGET --suite fuzz --seconds 60      made-up messages, until one does harm
  assay server TARGET --watch src                    again after every change

TARGET is what `assay serve` takes; it is served as a process of its own. With --command and --url together,
the command is started and then reached at the URL. Findings go to standard output, progress to standard
error. Results are kept below `results/`.

Exit codes: 0 conforms, 1 does not conform, 2 usage or nothing selected, 3 nothing proved or a scenario broke
off, 4 the server is not there or did not start, 70 a fault of Assay, 130 interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from .exit_code import CommandFailed, ExitCode
from .formats import FORMATS
from .suite import FUZZ, add_suite

if TYPE_CHECKING:
    from assay.cli.lab.judging import Play

SUMMARY = "judge an MCP server: by URL, command or file"
FOR_SERVING = ("--host", "--port", "--allow-host", "--allow-origin")
FOR_SUITES = {FUZZ: ("seconds", "seed", "export", "case"), "marketplace": ("registry", "observe", "otlp")}


def configure(parser: argparse.ArgumentParser) -> None:
    _add_subject(parser)
    add_tokens(parser.add_argument_group("a protected server"))
    _add_selection(parser.add_argument_group("what is judged"))
    _add_manner(parser.add_argument_group("how it is judged"))
    _add_fuzzing(parser.add_argument_group("with --suite fuzz"))
    add_beside(parser.add_argument_group("with --suite marketplace"))
    add_results(parser.add_argument_group("results"))
    for option in FOR_SERVING:
        parser.add_argument(option, action=Misplaced, help=argparse.SUPPRESS)


def _add_subject(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", metavar="TARGET", nargs="?", help="everything, reference, path.py[:name] or module[:name]"
    )
    add = parser.add_argument_group("the server").add_argument
    add("--url", "--server-url", metavar="URL", help="the endpoint: http(s):// or ws(s)://")
    add("--command", metavar="LINE", help="a command that serves on stdio, or at --url")
    add("--transport", action="append", choices=("stdio", "http", "http-sse", "ws"), help="repeatable")
    add("--header", action="append", default=[], metavar="'N: V'", help="sent with every request; repeatable")


def add_tokens(group: argparse._ArgumentGroup, *names: str) -> None:
    """`names` are others for `--bearer`."""
    add = group.add_argument
    usual = "sent as `Authorization: Bearer`; never kept"
    add(*names, "--bearer", dest="bearer", metavar="TOKEN", help=usual)
    add("--bearer-other", metavar="TOKEN", help="another user's, as good: what is one's, is not the other's")
    add("--bearer-weak", metavar="TOKEN", help="good, with too small a scope for something")
    add("--bearer-expired", metavar="TOKEN", help="of the same issuer, expired")
    add("--bearer-foreign", metavar="TOKEN", help="of the same issuer, for another server")
    add("--authority", metavar="URL", help="get all these there instead: an issuer of tokens for this server")
    add("--audience", metavar="URL", help="what tokens are asked for there; default: --url")
    add(
        "--token-scope",
        action="append",
        default=[],
        metavar="S",
        help="that they should have; repeatable; default: the scopes that the server's metadata names",
    )
    add("--client-id", metavar="ID", help="known there, its secret in ASSAY_CLIENT_SECRET; default: register")
    add("--ca", type=Path, metavar="FILE", help="who vouches for the server's own certificate (PEM)")
    add("--client-cert", type=Path, metavar="FILE", help="shown to a server that asks for one (PEM)")
    add("--client-key", type=Path, metavar="FILE", help="its private key, unless it is in the same file")


def _add_selection(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--scenario", action="append", default=[], metavar="GLOB", help="e.g. 'tools-*'; repeatable")
    add("--all", action="store_true", help="every scenario, which is the default")
    add_suite(group, FUZZ)
    add("--spec-version", action="append", default=[], metavar="DATE", help="this revision only; repeatable")
    add("--allow-effects", action="store_true", help="also what may change something in the server's world")


def _add_manner(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--timeout", type=seconds, default=10.0, metavar="S", help="seconds for one answer; default: 10")
    add("--isolate", action="store_true", help="on stdio, a process of its own for every scenario: slower")
    add_strictness(group, "server")


def add_strictness(group: argparse._ArgumentGroup, role: str) -> None:
    """How often everything is played, and what is held against the subject."""
    add = group.add_argument
    add("--jobs", type=count, metavar="N", help="scenarios at once; default: the cores")
    add("--repeat", type=count, metavar="N", help="play each scenario N times and report flakes")
    add("--strict", action="store_true", help="a broken SHOULD fails too")
    add(
        "--baseline",
        "--expected-failures",
        type=Path,
        metavar="FILE",
        help=f"YAML of expected failures, `{role}: [scenario, scenario:check]`; those that do not fail, fail",
    )


def _add_fuzzing(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--seconds", type=seconds, default=None, metavar="N", help="how long; default: 60")
    add("--seed", type=int, default=None, metavar="S", help="the same seed makes the same messages")
    add("--export", type=Path, metavar="FILE", help="write what was found as a pytest file")
    add("--case", action="append", default=[], metavar="WORD", help="try this case only; a finding names it")


def add_beside(group: argparse._ArgumentGroup, who_is_told: str = "") -> None:
    """What can be seen beside the messages."""
    add = group.add_argument
    add("--registry", type=Path, metavar="FILE", help="its entry in the registry: server.json")
    observed = "directory that it may write to, watched around every call; repeatable"
    add("--observe", type=Path, action="append", default=[], metavar="DIR", help=observed)
    add("--otlp", metavar="HOST:PORT", help=f"listen there for its spans{who_is_told}")


def add_results(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--output", "-o", type=Path, default=Path("results"), metavar="DIR", help="default: results")
    add("--format", default="text", metavar="F", help=f"{FORMATS}; default: text")
    golden = group.add_mutually_exclusive_group()
    golden.add_argument(
        "--record-golden", type=Path, metavar="DIR", help="keep this run there as what is right"
    )
    golden.add_argument(
        "--against-golden", type=Path, metavar="DIR", help="fail on any difference from what was kept there"
    )
    add("--golden-ignore", action="append", default=[], metavar="POINTER", help="JSON Pointer; repeatable")
    add("--watch", action="append", default=[], type=Path, metavar="PATH", help="again on change; repeatable")


def seconds(text: str) -> float:
    """A time, for argparse."""
    with contextlib.suppress(ValueError):
        if 0 < (value := float(text)) < 86_400:
            return value
    raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds between 0 and a day")


def count(text: str) -> int:
    """A number of at least one, for argparse."""
    with contextlib.suppress(ValueError):
        if 0 < (value := int(text)) <= 10_000:
            return value
    raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to 10000")


class Misplaced(argparse.Action):
    """An option of `assay serve`, whose name differs from this command's by one letter."""

    def __init__(self, option_strings: list[str], dest: str, **options: object) -> None:
        super().__init__(option_strings, dest, nargs="?", **options)  # type: ignore[arg-type]

    def __call__(self, *given: object) -> None:
        problem = f"{self.option_strings[0]} is an option of `assay serve`"
        hint = "`assay server` judges a server; `assay serve` serves one"
        raise CommandFailed(ExitCode.USAGE, problem, hint)


def execute(options: argparse.Namespace) -> int:
    # The lab and its libraries load here: `assay --help` must not wait for them.
    from assay.cli.lab.extra import check_extra

    check_extra()
    check_suited(options)
    if options.watch:
        from assay.cli.lab.watching import check_watchable

        check_watchable(options)
    if options.suite == FUZZ:
        check_extra("hypothesis")
        from assay.cli.lab.fuzzing import fuzz_server

        return asyncio.run(fuzz_server(options))
    from assay.cli.lab.server_play import ServerPlay

    return play_with(ServerPlay(options), options)


def play_with(play: Play, options: argparse.Namespace) -> int:
    """Once, or after every change."""
    if options.watch:
        from assay.cli.lab.watching import watch

        return asyncio.run(watch(play, options))
    from assay.cli.lab.judging import judge

    return asyncio.run(judge(play, options))


def check_suited(options: argparse.Namespace) -> None:
    """An option that does nothing is an option that was meant otherwise."""
    for suite, names in FOR_SUITES.items():
        given = [name for name in names if getattr(options, name) not in (None, [])]
        if given and options.suite != suite:
            problem = f"--{given[0]} is for --suite {suite}"
            raise CommandFailed(ExitCode.USAGE, problem, "add it, or leave this out")
