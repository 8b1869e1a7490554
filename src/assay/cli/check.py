"""Judge an MCP server, or with --client a client, against the specification.

examples:
  assay check http://localhost:3000/mcp               the server at a URL
  assay check server.py                               a server in a Python file; also server.py:name
  assay check -- npx some-server --flag               a server that a command starts, on stdio
  assay check "python my_server.py"                   the same, quoted
  assay check http://localhost:3000/mcp -- npx srv    start the command, then reach it at the URL
  assay check --client -- python my_client.py         a client: see `assay check --client --help`
  assay check server.py --transport http --transport ws
  assay check URL --scenario 'tools-*' --spec-version DATE
  assay check URL --authority http://127.0.0.1:9000   a protected server, with tokens from that issuer
  assay check URL --suite everything                  the official scenarios, for a server with their fixtures
  assay check server.py --suite fuzz --seconds 60     generated messages
  assay check server.py --watch src                   again after every change

TARGET is a URL if it has a scheme; a Python server if its first word ends in .py or .py:name, reads
module:name, or is `everything` or `reference` (words after it are options of `assay serve`); a command if it
has several words or names a program; else a Python module. Words after `--` are always a command. No shell
runs it. Findings go to standard output, progress to standard error, results to `results/`.

exit codes:
  0 conforms, 1 does not conform, 2 wrong usage or nothing selected, 3 nothing proved or a scenario was cut
  short, 4 the server is not there or did not start, 70 a fault of Assay, 130 interrupted
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.cli.options.access import access_from, add_access
from assay.cli.options.evidence import add_evidence, evidence_from
from assay.cli.options.run import add_results, add_scenarios, add_strictness, run_options
from assay.cli.options.subject import add_subject, target_from
from assay.cli.options.suite import FUZZ, add_suite
from assay.cli.options.value import seconds

from .exit_code import CommandFailed, ExitCode
from .parser import Misplaced, Parser

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.lab.live_run import LiveRun
    from assay.lab.options import Place

SUMMARY = "judge an MCP server by URL, file or command; with --client, a client"
GROUP = "judge"
USAGE = "TARGET [options]  |  [options] -- COMMAND [ARGUMENT …]"
OF_SERVE: Final = ("--host", "--port", "--allow-host", "--allow-origin")
ONLY_FOR: Final = {
    FUZZ: ("seconds", "seed", "export", "case"),
    "marketplace": ("registry", "observe", "otlp"),
}
NOT_FOR_FUZZ: Final = (
    *("scenario", "skip", "all", "jobs", "deadline", "repeat", "isolate", "baseline", "allow_load"),
    "arguments",
    *("record_golden", "against_golden", "golden_ignore"),
    *("bearer_other", "bearer_weak", "bearer_expired", "bearer_foreign"),
    *("authority", "audience", "client_id", "token_scope"),
)


def variant(arguments: list[str]) -> tuple[str, list[str]]:
    """With `--client` before any `--`, this is the command for clients."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = [word for word in arguments[:end] if word != "--client"]
    return ("client" if len(options) < end else "check"), options + arguments[end:]


def configure(parser: Parser) -> None:
    add_subject(parser)
    add_access(parser.add_argument_group("protected servers"))
    _add_selection(parser.add_argument_group("selection"))
    _add_manner(parser.add_argument_group("execution"))
    add_results(parser.add_argument_group("results"))
    _add_fuzz(parser.add_argument_group("--suite fuzz"))
    add_evidence(parser.add_argument_group("--suite marketplace"))
    for option in OF_SERVE:
        hint = "it is an option of `assay serve`, which serves a server; this command judges one"
        parser.add_argument(option, action=Misplaced, hint=hint)


def _add_selection(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add_scenarios(group, "tools-*")
    add("--all", action="store_true", help="every scenario, which is the default")
    add_suite(group, FUZZ)
    add("--spec-version", action="append", default=[], metavar="DATE", help="only this revision; repeatable")
    effects = "also call tools and run scenarios that may change the server's data"
    add("--allow-effects", action="store_true", help=effects)
    destructive = "also call tools with `destructiveHint`; includes --allow-effects"
    add("--allow-destructive", action="store_true", help=destructive)
    arguments = "arguments for each tool, in JSON; `assay arguments TARGET` writes such a file"
    add("--arguments", type=Path, metavar="FILE", help=arguments)
    add("--allow-load", action="store_true", help="also run scenarios that put load on the server")


def _add_manner(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--timeout", type=seconds, default=10.0, metavar="S", help="seconds for one answer; default: 10")
    add("--isolate", action="store_true", help="on stdio, a new process for every scenario; slower")
    add_strictness(group, "server")


def _add_fuzz(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--seconds", type=seconds, metavar="N", help="how long; default: 60")
    add("--seed", type=int, metavar="S", help="the same seed generates the same messages")
    add("--export", type=Path, metavar="FILE", help="write the findings as a pytest file")
    add(
        "--case",
        action="append",
        default=[],
        metavar="WORD",
        help="try only this case, as a finding names it",
    )


def execute(options: argparse.Namespace) -> int:
    # The lab and its libraries load here: `assay --help` must not wait for them.
    from assay.lab.extra import require_lab

    require_lab()
    check_suite(options)
    if options.suite == FUZZ:
        return fuzz(options)
    from assay.lab import JudgeOptions, follow

    if options.all and options.scenario:
        raise CommandFailed(ExitCode.USAGE, "give --all or --scenario, not both")
    target = target_from(options)
    values = {
        **run_options(options),
        "suite": options.suite,
        "transport": tuple(options.transport or ()),
        "access": access_from(options),
        "evidence": evidence_from(options),
        "allow_effects": options.allow_effects,
        "allow_destructive": options.allow_destructive,
        "arguments": options.arguments or {},
        "allow_load": options.allow_load,
        "timeout": options.timeout,
        "isolate": options.isolate,
    }
    return show(lambda first: follow(target, JudgeOptions(**values, first=first)), options)


def show(follow: Callable[[frozenset[Place]], LiveRun], options: argparse.Namespace, **more: Any) -> int:
    """Judge once, or with `--watch` after every change."""
    if options.watch:
        return watch(follow, options)
    from assay.cli.output.run import show_run

    return asyncio.run(show_run(follow(frozenset()), options.format, **more))


def watch(follow: Callable[[frozenset[Place]], LiveRun], options: argparse.Namespace) -> int:
    from assay.lab.extra import require_lab

    require_lab("watchfiles")
    if options.record_golden or options.against_golden:
        problem = "--watch runs again and again, and a golden run is one run"
        raise CommandFailed(ExitCode.USAGE, problem, "leave one of them out")
    from assay.cli.output.rounds import show_rounds

    where = {"output": options.output, "form": options.format, "strict": options.strict}
    return asyncio.run(show_rounds(follow, options.watch, **where))


def check_suite(options: argparse.Namespace) -> None:
    """Refuse options that have no effect in this suite."""
    for suite, names in ONLY_FOR.items():
        used = [name for name in names if getattr(options, name) not in (None, [])]
        if used and options.suite != suite:
            problem = f"--{used[0]} is for --suite {suite}"
            raise CommandFailed(ExitCode.USAGE, problem, f"add --suite {suite}, or leave this out")


def fuzz(options: argparse.Namespace) -> int:
    if options.watch:
        problem = "--watch repeats scenarios, and --suite fuzz has none"
        raise CommandFailed(ExitCode.USAGE, problem, "leave one of them out")
    used = [name for name in NOT_FOR_FUZZ if getattr(options, name)]
    if used:
        problem = f"--{used[0].replace('_', '-')} is not for --suite fuzz"
        raise CommandFailed(ExitCode.USAGE, problem, "leave it out")
    from assay.lab.extra import require_lab

    require_lab("hypothesis")
    from assay.cli.output.fuzz import show_fuzz
    from assay.lab.fuzz.session import FuzzSession
    from assay.lab.options import FuzzOptions

    values = FuzzOptions(
        seconds=options.seconds or FuzzOptions().seconds,
        seed=options.seed,
        case=tuple(options.case),
        transport=tuple(options.transport or ()),
        access=access_from(options),
        spec_version=tuple(options.spec_version),
        allow_effects=options.allow_effects,
        allow_destructive=options.allow_destructive,
        strict=options.strict,
        timeout=options.timeout,
        output=options.output,
    )
    session = FuzzSession(target_from(options), values)
    return asyncio.run(show_fuzz(session, options.format, options.export, one_case=bool(options.case)))
