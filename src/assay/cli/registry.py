"""The entry of a server in a registry, `server.json`: write it, check it, hold it against an older one.

  assay registry build -e URL [-t TOKEN] --name com.example/x --server-version 0.1.0 -o server.json
  assay registry build --stdio "python my_server.py" --name … --server-version … --package pypi:my-server
  assay registry build my_server.py --name … --previous server.json -o server.json
  assay registry check server.json
  assay registry diff OLD NEW

`build` gets to know the live server on each transport that is given, and writes what it saw; an entry that is
not valid, or may not follow --previous, is not written. `diff` refuses a prompt whose text changed without a
higher version, and a server that changed without one. Manifests (mcp-tools.json and so on) beside both files
are compared, too.

Exit codes: 0 written, valid or acceptable; 1 not valid or refused; 2 usage; 3 the server speaks no revision;
4 it is not there or did not start.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .exit_code import CommandFailed, ExitCode
from .once import Once
from .output import emit
from .server import add_tokens, seconds

if TYPE_CHECKING:
    from assay.certify.registry.diff import Difference, Manifests
    from assay.certify.registry.form import Report

    Actions = argparse._SubParsersAction[argparse.ArgumentParser]

SUMMARY = "write, check or compare a server's entry in a registry"


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(metavar="build|check|diff", required=True)
    _add_build(_action(actions, "build", build))
    check = _action(actions, "check", check_entry)
    check.add_argument("file", type=Path, metavar="FILE", help="server.json")
    diff = _action(actions, "diff", diff_entries)
    diff.add_argument("old", type=Path, metavar="OLD", help="server.json as it was")
    diff.add_argument("new", type=Path, metavar="NEW", help="server.json as it is to be")
    for one in (check, diff):
        one.add_argument("--format", choices=("text", "json"), default="text", help="default: text")


def _action(
    actions: Actions, name: str, work: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, allow_abbrev=False)
    parser.set_defaults(work=work)
    return parser


def _add_build(parser: argparse.ArgumentParser) -> None:
    target = "what `assay serve` takes, with its options: served on stdio and HTTP"
    parser.add_argument("target", metavar="TARGET", nargs="?", help=target)
    add = parser.add_argument_group("the server").add_argument
    add("-e", "--endpoint", action=Once, dest="url", metavar="URL", help="where it is served: http(s)://")
    add("--stdio", action=Once, dest="command", metavar="LINE", help="a command that serves on stdio")
    add("--header", action="append", default=[], metavar="'N: V'", help="sent with every request; repeatable")
    add("--timeout", type=seconds, default=10.0, metavar="S", help="seconds for one answer; default: 10")
    add_tokens(parser.add_argument_group("a protected server"), "-t", "--token")
    _add_claims(parser.add_argument_group("what its publisher says"))
    add = parser.add_argument_group("what is written").add_argument
    add("-o", "--output", type=Path, metavar="FILE", help="default: standard output")
    add("--manifests", action="store_true", help="also mcp-tools.json and its sisters, beside FILE")
    add(
        "--previous",
        type=Path,
        metavar="FILE",
        help="the entry that it follows: what `diff` refuses is refused",
    )


def _add_claims(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--name", required=True, metavar="N", help="namespace and name, as com.example/server")
    add("--server-version", required=True, metavar="V", help="its version, as 0.1.0")
    add("--description", metavar="TEXT", help="up to 100 characters; default: its title or name")
    add("--title", metavar="TEXT")
    packaged = "where it can be got: npm, pypi, cargo, oci, nuget or mcpb; repeatable"
    add("--package", action="append", default=[], metavar="KIND:ID", help=packaged)
    add("--remote", action="append", default=[], metavar="URL", help="its public endpoint; repeatable")
    add("--heartbeat", type=seconds, metavar="S", help="seconds between signs of life on its streams")
    add(
        "--resume",
        action="append",
        default=[],
        metavar="DATE",
        help="revision with resumable streams; repeatable",
    )
    add("--auth-mode", action="append", default=[], metavar="MODE", help="as mtls; repeatable")
    add("--scope", action="append", default=[], metavar="S", help="that it knows; repeatable")


def execute(options: argparse.Namespace) -> int:
    from assay.cli.lab.extra import check_certify

    check_certify()
    code: int = options.work(options)
    return code


def build(options: argparse.Namespace) -> int:
    from assay.cli.lab.registering import register

    return asyncio.run(register(options))


def check_entry(options: argparse.Namespace) -> int:
    import msgspec

    from assay.certify.registry.entry import read

    _, found = read(content_of(options.file))
    if options.format == "json":
        emit(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
    else:
        emit(report_text(found, str(options.file)))
    return ExitCode.OK if found.valid else ExitCode.DOES_NOT_CONFORM


def report_text(found: Report, name: str) -> str:
    lines = [str(issue) for issue in found.issues]
    return "\n".join([*lines, f"{name} is {'' if found.valid else 'not '}valid"]) + "\n"


def diff_entries(options: argparse.Namespace) -> int:
    import msgspec

    from assay.certify.registry.diff import difference

    found = difference(
        entry_at(options.old), entry_at(options.new), manifests_at(options.old), manifests_at(options.new)
    )
    if options.format == "json":
        emit(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
    else:
        emit(difference_text(found))
    return ExitCode.OK if found.acceptable else ExitCode.DOES_NOT_CONFORM


def difference_text(found: Difference) -> str:
    lines = [str(change) for change in found.changes] or ["nothing changed"]
    verdict = "may follow the old entry" if found.acceptable else "may not follow the old entry"
    return "\n".join([*lines, f"the new entry {verdict}"]) + "\n"


def entry_at(path: Path) -> dict[str, Any]:
    """
    Raises:
        CommandFailed: it cannot be read, or is no entry at all.
    """
    from assay.certify.registry.entry import read

    entry, found = read(content_of(path))
    wrong = next((issue for issue in found.issues if issue.severity == "error"), None)
    if not isinstance(entry, dict) or wrong is not None:
        problem = f"{path} is no valid entry: {wrong.path if wrong else ''}: {wrong.message if wrong else ''}"
        raise CommandFailed(ExitCode.USAGE, problem, f"`assay registry check {path}` tells all that is wrong")
    return entry


def manifests_at(path: Path) -> Manifests:
    """Those that lie beside an entry."""
    from assay.certify.registry.capability_manifests import FILES, read

    found = {}
    for kind, name in FILES.items():
        place = path.with_name(name)
        if place.exists():
            found[kind], issues = read(kind, content_of(place))
            wrong = next((issue for issue in issues if issue.severity == "error"), None)
            if wrong is not None:
                raise CommandFailed(ExitCode.USAGE, f"{place} is no manifest: {wrong.path} {wrong.message}")
    return found


def content_of(path: Path) -> bytes:
    from assay.certify.registry.capability_manifests import MAX_BYTES

    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandFailed(ExitCode.USAGE, f"cannot read {path}: {error.strerror}") from error


def written(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
