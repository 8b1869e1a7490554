"""Write, check or compare the entry of a server in a registry: `server.json`.

examples:
  assay registry build -e URL [-t TOKEN] --name com.example/x --server-version 0.1.0 -o server.json
  assay registry build --stdio "python my_server.py" --name … --server-version … --package pypi:my-server
  assay registry build my_server.py --name … --server-version … --previous server.json -o server.json
  assay registry check server.json
  assay registry diff OLD NEW

`build` connects to the live server on each transport that you give, and describes what it offers. It does not
write an entry that is not valid, or that must not follow --previous. `diff` refuses a prompt whose text
changed without a higher version, and a server that changed without one. Manifests (mcp-tools.json and so on)
beside both files are compared, too.

exit codes:
  0 written, valid or acceptable; 1 not valid or refused; 2 wrong usage; 3 the server speaks no revision; 4 it
  is not there or did not start
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.cli.options.access import access_from, add_access
from assay.cli.options.subject import add_endpoints, targets_from
from assay.cli.options.value import seconds
from assay.cli.output.entry import as_json, difference_lines, report_lines
from assay.cli.output.stream import emit, emit_lines, say_lines

from .exit_code import CommandFailed, ExitCode
from .parser import Action, Parser

if TYPE_CHECKING:
    from assay.certify.registry.registration import Registration

SUMMARY = "write, check or compare a server's entry in a registry"
GROUP = "certify"
SEVERAL: Final = ("package", "remote", "resume", "auth_mode", "scope")
PLAIN: Final = ("name", "server_version", "timeout", "description", "title", "heartbeat", "previous")


def _add_check(parser: Parser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="server.json")
    _add_format(parser)


def _add_diff(parser: Parser) -> None:
    parser.add_argument("old", type=Path, metavar="OLD", help="the older server.json")
    parser.add_argument("new", type=Path, metavar="NEW", help="the newer server.json")
    _add_format(parser)


def _add_format(parser: Parser) -> None:
    choices = ("text", "json")
    parser.add_argument(
        "--format", choices=choices, default="text", metavar="F", help="text or json; default: text"
    )


def _add_build(parser: Parser) -> None:
    add = add_endpoints(parser).add_argument
    add("--timeout", type=seconds, default=10.0, metavar="S", help="seconds for one answer; default: 10")
    add_access(parser.add_argument_group("protected servers"), "-t", "--token")
    _add_claims(parser.add_argument_group("what its publisher states"))
    add = parser.add_argument_group("results").add_argument
    add("-o", "--output", type=Path, metavar="FILE", help="default: standard output")
    add("--manifests", action="store_true", help="also mcp-tools.json and the other manifests, beside FILE")
    previous = "the entry that this one follows: what `diff` refuses is refused"
    add("--previous", type=Path, metavar="FILE", help=previous)


def _add_claims(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--name", required=True, metavar="N", help="namespace and name, as com.example/server")
    add("--server-version", required=True, metavar="V", help="its version, as 0.1.0")
    add("--description", default="", metavar="TEXT", help="up to 100 characters; default: its title or name")
    add("--title", metavar="TEXT", help="its name for people")
    packages = "where to get it: npm, pypi, cargo, oci, nuget or mcpb; repeatable"
    add("--package", action="append", default=[], metavar="KIND:ID", help=packages)
    add("--remote", action="append", default=[], metavar="URL", help="its public endpoint; repeatable")
    add("--heartbeat", type=seconds, metavar="S", help="seconds between heartbeats on its streams")
    resume = "revision with resumable streams; repeatable"
    add("--resume", action="append", default=[], metavar="DATE", help=resume)
    add("--auth-mode", action="append", default=[], metavar="MODE", help="as mtls; repeatable")
    add("--scope", action="append", default=[], metavar="S", help="scope that it knows; repeatable")


def build(options: argparse.Namespace) -> int:
    from assay.certify.extra import require_certify

    require_certify()
    from assay.certify.options import EntryOptions
    from assay.certify.registry.registration import describe

    if options.manifests and options.output is None:
        raise CommandFailed(ExitCode.USAGE, "--manifests are written beside -o FILE, which is not given")
    values: dict[str, Any] = {name: tuple(getattr(options, name)) for name in SEVERAL}
    values |= {name: getattr(options, name) for name in PLAIN}
    entry = EntryOptions(
        access=access_from(options),
        **values,
    )
    registration = asyncio.run(describe(targets_from(options), entry))
    if registration.report.issues:
        say_lines(report_lines(registration.report, "the entry"))
    if registration.changes is not None:
        say_lines(difference_lines(registration.changes))
    if not registration.acceptable:
        return ExitCode.DOES_NOT_CONFORM
    write(registration, options.output, manifests=options.manifests)
    return ExitCode.OK


def write(registration: Registration, output: Path | None, *, manifests: bool) -> None:
    from assay.certify.registry.capability_manifests import FILES

    if output is None:
        emit(as_json(registration.entry))
        return
    files: dict[Path, Any] = {output: registration.entry}
    if manifests:
        files |= {output.with_name(name): registration.manifests[kind] for kind, name in FILES.items()}
    try:
        for path, value in files.items():
            _replace(path, as_json(value))
    except OSError as error:
        problem = f"cannot write {error.filename}: {error.strerror}"
        raise CommandFailed(ExitCode.INCOMPLETE, problem, "free some space, or write elsewhere") from error


def _replace(path: Path, text: str) -> None:
    """Whole or not at all: the old entry may be the only copy."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def check_entry(options: argparse.Namespace) -> int:
    from assay.certify.extra import require_certify

    require_certify()
    from assay.certify.registry.entry import read
    from assay.certify.registry.registration import read_file

    _, report = read(read_file(options.file))
    if options.format == "json":
        emit(as_json(report))
    else:
        emit_lines(report_lines(report, str(options.file)))
    return ExitCode.OK if report.valid else ExitCode.DOES_NOT_CONFORM


def diff_entries(options: argparse.Namespace) -> int:
    from assay.certify.extra import require_certify

    require_certify()
    from assay.certify.registry.diff import difference
    from assay.certify.registry.registration import read_entry, read_manifests

    old, new = options.old, options.new
    changes = difference(read_entry(old), read_entry(new), read_manifests(old), read_manifests(new))
    if options.format == "json":
        emit(as_json(changes))
    else:
        emit_lines(difference_lines(changes))
    return ExitCode.OK if changes.acceptable else ExitCode.DOES_NOT_CONFORM


ACTIONS: Final = {
    "build": Action(
        "TARGET --name N --server-version V [options]", "describe a live server", _add_build, build
    ),
    "check": Action("FILE [options]", "check whether an entry is valid", _add_check, check_entry),
    "diff": Action("OLD NEW [options]", "check whether an entry may follow another", _add_diff, diff_entries),
}
