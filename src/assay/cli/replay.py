"""Record the conversations of a server with their seeds, and replay them later.

examples:
  assay replay record server.py --out bundle/               record every revision on stdio
  assay replay record server.py --out bundle/ --transport stdio --transport http
  assay replay run bundle/ server.py                        send the same requests, compare the answers
  assay replay run bundle/ http://localhost:3000/mcp        the same with a server that is running
  assay replay run bundle/ server.py --ignore /result/content/0/text
  assay replay run bundle/ --as-server                      be the server of the recording, on stdio
  assay replay run bundle/ --as-server --transport http     the same at a URL
  assay replay run bundle/ server.py --as-client            be the client of the recording; compare nothing

A server that is started gets the seeds in its environment: ASSAY_CLOCK, ASSAY_RANDOM_SEED, TZ, LC_ALL and
PYTHONHASHSEED. `assay serve` reads the first two, for `ctx.clock` and `ctx.random`. See docs/replay.md.

exit codes:
  0 every answer is the same, 1 an answer differs, 2 wrong usage, or not a bundle, 3 a conversation could not
  be recorded or replayed to its end, 4 the server is not there or did not start, 130 interrupted
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay.cli.options.access import access_from, add_access
from assay.cli.options.subject import add_subject, target_from
from assay.cli.options.value import port, seconds
from assay.cli.output.stream import emit, emit_lines, say

from .exit_code import CommandFailed, ExitCode
from .parser import Action, Parser

if TYPE_CHECKING:
    from assay.certify.replay import ReplayBundle, ReplayOptions

SUMMARY = "record the answers of a server with their seeds, and compare them later"
GROUP = "judge"
USAGE = "record|run …"
FORMATS: Final = ("text", "json")


def configure_record(parser: Parser) -> None:
    add_subject(parser)
    add = parser.add_argument_group("bundle").add_argument
    add("-o", "--out", type=Path, required=True, metavar="DIR", help="the directory to write the bundle to")
    add("--force", action="store_true", help="replace a bundle that is there")
    requests = 'send these instead: one {"method": …, "params": …} per line'
    add("--requests", type=Path, metavar="FILE", help=requests)
    add("--arguments", type=Path, metavar="FILE", help="arguments for each tool, as of `assay arguments`")
    add("--allow-effects", action="store_true", help="also call tools that may change the server's data")
    add("--spec-version", action="append", default=[], metavar="DATE", help="only this revision; repeatable")
    _add_seeds(parser.add_argument_group("seeds"))
    add_access(parser.add_argument_group("protected servers"))
    _add_timeout(parser)


def _add_seeds(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--clock", metavar="TIME", help="where the server's clock begins; default: 2026-01-01T00:00:00+00:00")
    add("--random-seed", metavar="TEXT", help="seed of the server's random numbers; default: random")
    add("--timezone", metavar="TZ", help="default: UTC")
    add("--locale", metavar="NAME", help="default: C.UTF-8")
    env = "a variable that the server depends on, stored as a digest; repeatable"
    add("--env", action="append", default=[], metavar="NAME", help=env)


def configure_run(parser: Parser) -> None:
    bundle = "directory of `assay replay record`, or of `assay tap`"
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help=bundle)
    add_subject(parser)
    add = parser.add_argument_group("replay").add_argument
    add(
        "--ignore", action="append", default=[], metavar="POINTER", help="a value that may differ; repeatable"
    )
    add("--spec-version", action="append", default=[], metavar="DATE", help="only this revision; repeatable")
    add("--as-server", action="store_true", help="answer as the recorded server, on stdio or HTTP")
    add("--as-client", action="store_true", help="send what the recorded client sent, and compare nothing")
    add("--port", type=port, default=0, metavar="N", help="for --as-server on HTTP; default: any free one")
    add("--format", choices=FORMATS, default="text", metavar="F", help="text or json; default: text")
    add_access(parser.add_argument_group("protected servers"))
    _add_timeout(parser)


def _add_timeout(parser: Parser) -> None:
    add = parser.add_argument_group("execution").add_argument
    add("--timeout", type=seconds, default=10.0, metavar="S", help="seconds for one answer; default: 10")


def record(options: argparse.Namespace) -> int:
    from assay.certify.replay import RecordOptions, Seeds, record_bundle

    seeds = {"clock": options.clock, "random": options.random_seed}
    seeds |= {"timezone": options.timezone, "locale": options.locale}
    values = RecordOptions(
        out=options.out,
        force=options.force,
        seeds=Seeds(**{name: value for name, value in seeds.items() if value is not None}),
        env=tuple(options.env),
        transport=tuple(options.transport or ()),
        spec_version=tuple(options.spec_version),
        requests=options.requests,
        arguments=options.arguments or {},
        allow_effects=options.allow_effects,
        access=access_from(options),
        timeout=options.timeout,
    )
    from assay.cli.output.replay import recorded_lines

    bundle = asyncio.run(record_bundle(target_from(options), values))
    emit_lines(recorded_lines(bundle, options.out))
    return ExitCode.OK


def run(options: argparse.Namespace) -> int:
    from assay.certify.replay import ReplayOptions
    from assay.certify.replay.tapped import read_recording

    if options.as_server and options.as_client:
        raise CommandFailed(ExitCode.USAGE, "give --as-server or --as-client, not both")
    values = ReplayOptions(
        ignore=tuple(options.ignore),
        transport=() if options.as_server else tuple(options.transport or ()),
        spec_version=tuple(options.spec_version),
        access=access_from(options),
        timeout=options.timeout,
    )
    bundle = read_recording(options.bundle)
    if options.as_server:
        return _serve(bundle, values, options)
    if options.as_client:
        return _play(bundle, values, options)
    from assay.certify.replay import replay_bundle
    from assay.cli.output.replay import as_json, replayed_lines

    result = asyncio.run(replay_bundle(bundle, target_from(options), values))
    emit(as_json(result)) if options.format == "json" else emit_lines(replayed_lines(result))
    if result.diverges:
        return ExitCode.DOES_NOT_CONFORM
    return ExitCode.OK if result.is_complete else ExitCode.INCOMPLETE


def _serve(bundle: ReplayBundle, values: ReplayOptions, options: argparse.Namespace) -> int:
    from assay.certify.replay import mock_server, serve_http, serve_streams

    if options.target or options.url or options.command_words:
        raise CommandFailed(ExitCode.USAGE, "--as-server is the server, and there is another", "leave it out")
    transport = (options.transport or ["stdio"])[-1]
    if transport not in ("stdio", "http"):
        raise CommandFailed(ExitCode.USAGE, f"--as-server does not serve {transport}", "choose stdio or http")
    server = mock_server(bundle, values)

    async def serve() -> None:
        if transport == "stdio":
            with open(os.dup(sys.stdin.fileno()), "rb", buffering=0) as source:
                return await serve_streams(server, source, sys.stdout.buffer)
        async with serve_http(server, options.port) as url:
            emit_lines([f"recording of {bundle.manifest.server}", f"  - MCP endpoint: {url}"])
            await asyncio.Event().wait()

    try:
        asyncio.run(serve())
    finally:
        for text in server.unknown:
            say(f"not in the recording: {text}")
        say(f"served {server.served} requests from the recording, {len(server.unknown)} were not in it")
    if server.unknown:
        return ExitCode.DOES_NOT_CONFORM
    return ExitCode.OK if server.served else ExitCode.INCOMPLETE


def _play(bundle: ReplayBundle, values: ReplayOptions, options: argparse.Namespace) -> int:
    from assay.certify.replay import play_client
    from assay.cli.output.replay import played_lines

    played = asyncio.run(play_client(bundle, target_from(options), values))
    emit_lines(line for conversation in played for line in played_lines(conversation))
    return ExitCode.INCOMPLETE if any(each.broken for each in played) else ExitCode.OK


ACTIONS: Final = {
    "record": Action("TARGET --out DIR [options]", "record a server into a bundle", configure_record, record),
    "run": Action(
        "BUNDLE [TARGET] [options]", "replay a bundle with a server, or be one side of it", configure_run, run
    ),
}
