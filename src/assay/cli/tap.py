"""Stand between a client and a server: pass everything on unchanged, record it, and judge both sides.

examples:
  assay tap --to https://example.com/mcp           HTTP, streams and WebSocket, at http://127.0.0.1:4000/mcp
  assay tap --listen 127.0.0.1:4001 --to http://localhost:3000/mcp
  assay tap -- npx some-server --flag              stdio: put this line into the host's configuration
  assay report results/tap-…                       what both sides did wrong, and where
  assay judge results/tap-…                        judge the traffic again
  assay report results/tap-… --format har -o traffic.har      also otlp and pcapng
  assay replay run results/tap-… server.py         send the same requests to another server

Every frame is on disk before its bytes are passed on, without the credentials that pass. Checks run in
another process, which never delays a byte. Headers are not changed, except that a server elsewhere gets its
own name as `Host`. See docs/tap.md.

exit codes:
  0 ended by Ctrl-C or SIGTERM; with --check, 1 if a side broke a MUST, and 3 if that is not known;
  2 wrong usage, or the address is taken; 3 the traces cannot be stored; 4 the command cannot be run;
  otherwise, on stdio, the status or the signal of the server
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay.cli.options.value import count

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from assay.lab.tap.options import TapOptions

SUMMARY = "stand between a client and a server: record and judge live traffic"
GROUP = "judge"
USAGE = "[--listen HOST:PORT] --to URL [options]  |  [options] -- COMMAND [ARGUMENT …]"
LISTEN: Final = "127.0.0.1:4000"
_SIZE: Final = re.compile(r"(\d{1,12})([kmg]?)", re.IGNORECASE)
_UNITS: Final = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


def configure(parser: Parser) -> None:
    parser.takes_command = True
    where = parser.add_argument_group("traffic").add_argument
    where("--to", metavar="URL", help="the server: http(s):// or ws(s)://")
    where("--listen", type=address, metavar="ADDRESS", help=f"HOST:PORT for clients; default: {LISTEN}")
    where("--ca", type=Path, metavar="FILE", help="authorities that signed the server's certificate (PEM)")
    connections = "at once; more are refused; default: 1000"
    where("--connections", type=count, default=1000, metavar="N", help=connections)
    recording = parser.add_argument_group("recording").add_argument
    recording("-o", "--output", type=Path, default=Path("results"), metavar="DIR", help="default: results/")
    rotate = "bytes of a trace, after which the next one begins; default: 32M"
    recording("--rotate", type=size, default=32 * _UNITS["m"], metavar="SIZE", help=rotate)
    keep = "bytes of all traces; the oldest are removed; default: 1G"
    recording("--keep", type=size, default=_UNITS["g"], metavar="SIZE", help=keep)
    largest = "bytes of the largest message that is recorded; default: 8M"
    recording("--largest", type=size, default=8 * _UNITS["m"], metavar="SIZE", help=largest)
    header = "also remove the value of this header; repeatable"
    recording("--redact-header", action="append", default=[], metavar="NAME", help=header)
    variable = "also remove the value of this environment variable wherever it passes; repeatable"
    recording("--redact-env", action="append", default=[], metavar="NAME", help=variable)
    judgement = parser.add_argument_group("judgement").add_argument
    judgement("--no-judge", action="store_true", help="only record; `assay judge` judges later")
    judgement("--check", action="store_true", help="exit with 1 if a side broke a MUST (HTTP only)")
    judgement("--quiet", action="store_true", help="show nothing while it runs")


def address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, such as {LISTEN}")
    return host, int(port)


def size(text: str) -> int:
    match = _SIZE.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size, such as 500k, 32M or 2G")
    return int(match[1]) * _UNITS[match[2].lower()]


def execute(options: argparse.Namespace) -> int:
    from assay.lab.extra import require_tokens

    words = options.command_words
    if (options.to is None) == (not words):
        problem = "give --to URL or a command after `--`, not both" if words else "nothing to tap"
        raise CommandFailed(ExitCode.USAGE, problem, "see `assay tap --help` for examples")
    if words and (options.listen is not None or options.check):
        option = "--check" if options.check else "--listen"
        fix = "`assay judge` gives an exit code for what was recorded" if options.check else "leave it out"
        raise CommandFailed(ExitCode.USAGE, f"{option} goes with --to, not with a command", fix)
    require_tokens()
    from assay.cli.output.tap import show_http, show_stdio

    values = _options(options)
    if words:
        return show_stdio(words, values, quiet=options.quiet)
    from assay.lab.load.loop import run_fast

    listen = options.listen or address(LISTEN)
    return run_fast(
        show_http(options.to, values, listen, options.ca, quiet=options.quiet, check=options.check)
    )


def _options(options: argparse.Namespace) -> TapOptions:
    import os

    from assay.lab.tap.options import TapOptions

    missing = [name for name in options.redact_env if name not in os.environ]
    if missing:
        raise CommandFailed(ExitCode.USAGE, f"--redact-env {missing[0]}: not in the environment")
    return TapOptions(
        output=options.output,
        rotate=options.rotate,
        keep=options.keep,
        frame=options.largest,
        connections=options.connections,
        secrets=tuple(os.environ[name] for name in options.redact_env),
        redact_headers=tuple(options.redact_header),
        judge=not options.no_judge,
    )
