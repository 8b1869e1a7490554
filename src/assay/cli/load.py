"""Put load on a server, and report latencies, errors, and what the server and the generator used.

examples:
  assay load server.py                                  an agent's traffic, for ten seconds
  assay load http://localhost:3000/mcp --users 50
  assay load http://localhost:3000/mcp --rate 200       200 operations/s, whether or not answers come
  assay load server.py --transport ws --scenario calls --tool add
  assay load server.py --scenario streams --users 50    latency of each message inside a stream
  assay load server.py --scenario sessions              sessions opened in a second; on stdio, processes
  assay load server.py --slo 'p95<250ms,errors<0.1%'    exit code 1 if it is not met
  assay load server.py -o before.json                   store the result …
  assay load server.py --against before.json            … and compare with it later
  assay load server.py --seconds 3600 --html soak.html  a soak test: memory and descriptors over time

Latencies count from the time at which an operation was to be sent, so that a stall of the server is seen by
all operations that it delayed. Only tools with `readOnlyHint` are called. Percentiles are missing if the
generator, not the server, was the limit.

exit codes:
  0 done, and the objectives are met; 1 an objective is not met, or it is worse than the stored result;
  2 wrong usage, or nothing to send; 3 the generator was the limit, or an objective was not measured; 4 the
  server cannot be reached or did not start; 130 interrupted: the result so far is shown
"""

from __future__ import annotations

import argparse
from pathlib import Path

from assay.cli.options.access import access_from, add_access
from assay.cli.options.subject import add_subject, target_from
from assay.cli.options.value import count, seconds

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

SUMMARY = "put load on a server: latencies, errors, memory; objectives for CI"
GROUP = "judge"
USAGE = "TARGET [options]  |  [options] -- COMMAND [ARGUMENT …]"


def configure(parser: Parser) -> None:
    add_subject(parser)
    add_access(parser.add_argument_group("protected servers"))
    traffic = parser.add_argument_group("traffic").add_argument
    scenario = "agent (default), calls, reads, lists, prompts, streams, sessions; calls=6,lists=1"
    traffic("--scenario", default="agent", metavar="S", help=scenario)
    traffic("--tool", action="append", default=[], metavar="NAME", help="call only this tool; repeatable")
    traffic("--arguments", type=Path, metavar="FILE", help="arguments of the tools: see `assay arguments`")
    traffic("--allow-effects", action="store_true", help="also call tools without `readOnlyHint`")
    destructive = "also call tools with `destructiveHint`; includes --allow-effects"
    traffic("--allow-destructive", action="store_true", help=destructive)
    traffic("--spec-version", metavar="DATE", help="the revision; default: the newest of the server")
    traffic("--seed", type=int, default=0, metavar="N", help="of the order of operations; default: 0")
    pace = parser.add_argument_group("pace").add_argument
    pace("--users", type=count, metavar="N", help="virtual users; default: 10, on stdio 1 (a process each)")
    pace("--rate", type=rate, metavar="R", help="operations/s, whatever the server does; users connect")
    pace("--poisson", action="store_true", help="with --rate: random intervals")
    pace("--think", type=seconds, default=0.0, metavar="S", help="pause of a user after each answer")
    pace("--seconds", type=seconds, default=10.0, metavar="S", help="measured time; default: 10")
    pace("--warm-up", type=zero_or_seconds, default=1.0, metavar="S", help="time before it; default: 1")
    pace("--timeout", type=seconds, default=10.0, metavar="S", help="seconds for one answer; default: 10")
    verdict = parser.add_argument_group("judgement").add_argument
    verdict("--slo", default="", metavar="TEXT", help="objectives, such as 'p95<250ms,errors<0.1%%'")
    verdict("--against", type=Path, metavar="FILE", help="compare with a stored result")
    tolerance = "how much worse than that it may be, in percent; default: 10"
    verdict("--tolerance", type=percent, default=10.0, metavar="P", help=tolerance)
    output = parser.add_argument_group("output").add_argument
    output("-o", "--output", type=Path, metavar="FILE", help="store the result as JSON")
    output("--html", type=Path, metavar="FILE", help="write a page with plots")
    output("--json", action="store_true", help="print the result as JSON")
    floor = "do not measure first what the generator can do"
    output("--no-floor", action="store_true", help=floor)


def rate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of operations in a second")
    return value


def percent(text: str) -> float:
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage")
    return value


def zero_or_seconds(text: str) -> float:
    return 0.0 if text == "0" else seconds(text)


def execute(options: argparse.Namespace) -> int:
    from assay.cli.output.load import show_load
    from assay.lab.load.loop import run_fast
    from assay.lab.load.options import LoadOptions
    from assay.lab.load.run import follow_load

    transports = options.transport or []
    if len(transports) > 1:
        fix = "give --transport once"
        raise CommandFailed(ExitCode.USAGE, "load is measured on one transport at a time", fix)
    values = LoadOptions(
        access=access_from(options),
        transport=transports[0] if transports else None,
        tool=tuple(options.tool),
        arguments=options.arguments or {},
        floor=not options.no_floor,
        **{name: getattr(options, name) for name in _SAME},
    )
    live = follow_load(target_from(options), values)
    return run_fast(show_load(live, options))


_SAME = (
    *("scenario", "users", "rate", "poisson", "think", "seconds", "warm_up", "timeout", "slo", "seed"),
    *("spec_version", "allow_effects", "allow_destructive"),
)
