"""Write an MCP server into the settings of an application: Claude, Cursor, VS Code, Windsurf, Zed.

examples:
  assay install claude-desktop server.py           a server in a Python file; also server.py:name
  assay install cursor https://example.com/mcp     the server at a URL
  assay install vscode --project -- npx some-srv   a command, for the project in this directory only
  assay install zed server.py --name weather --env API_KEY=…
  assay install json server.py                     print an entry for any other application
  assay install cursor server.py --print           print what would be written, and where

A Python file is served by this installation of Assay, with its absolute path. What is in the settings
stays, comments included, and a copy is kept beside the file. Nothing is written if the file is not valid
JSON, or if the name has another entry (--replace).

exit codes:
  0 written, or nothing to change; 2 wrong usage, a file that is not valid, or a name that is taken
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay.cli.calls.connection import add_words, refuse_more
from assay.cli.output.stream import emit
from assay.transport.target import BUNDLED, Command, Served, Url, parse_command, parse_target

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from assay.hosts.entry import Entry
    from assay.hosts.host import Host

SUMMARY = "write a server into the settings of Claude, Cursor, VS Code, Windsurf or Zed"
GROUP = "build and serve"
USAGE = "HOST TARGET [options]  |  HOST [options] -- COMMAND [ARGUMENT …]"
PRINTED: Final = "json"
"""In place of a host: print the entry."""
PLAIN: Final = frozenset({"server", "main", "app", "__main__", "__init__", "mcp"})
"""Names of files that say nothing: the directory names the server."""
NAME: Final = re.compile(r"[\w.-]{1,64}")
HEADER: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)")
VARIABLE: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def configure(parser: Parser) -> None:
    hosts = "claude-desktop, claude-code, cursor, vscode, windsurf, zed or json"
    text = f"{hosts}; and the server, as for `assay check`"
    add_words(parser, "HOST TARGET", text)
    add = parser.add_argument_group("entry").add_argument
    add("--name", help="name of the server there; default: from the file, command or URL")
    add(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="variable of its process; repeatable"
    )
    add("--header", action="append", default=[], metavar="'N: V'", help="for a URL; repeatable")
    add = parser.add_argument_group("file").add_argument
    add(
        "--project",
        action="store_true",
        help="the file of the project in this directory, not that of the user",
    )
    add("--config", type=Path, metavar="FILE", help="another file")
    add("--replace", action="store_true", help="replace another entry of that name")
    add("--print", action="store_true", dest="only_print", help="print the entry and its file; write nothing")


def execute(options: argparse.Namespace) -> int:
    from assay.hosts.host import HOSTS

    word, *words = options.words or [""]
    if word != PRINTED and word not in HOSTS:
        known = ", ".join((*HOSTS, PRINTED))
        problem = f"unknown host: {word}" if word else "for which application?"
        raise CommandFailed(ExitCode.USAGE, problem, f"known are {known}")
    name, entry = _named_entry(words, options)
    if word == PRINTED:
        emit(_document("mcpServers", name, HOSTS["cursor"].to_settings(entry)))
        return ExitCode.OK
    host = HOSTS[word]
    path = _path(host, options)
    if options.only_print:
        emit(f"{path}\n{_document(host.key, name, host.to_settings(entry))}")
        return ExitCode.OK
    return _install(host, name, entry, path, options.replace)


def _install(host: Host, name: str, entry: Entry, path: Path, replace: bool) -> int:
    from assay.hosts.error import HostFileProblem
    from assay.hosts.installation import install

    try:
        done = install(host, name, entry, path, replace=replace)
    except HostFileProblem as error:
        raise CommandFailed(ExitCode.USAGE, error.problem, error.fix or None) from error
    if not done.changed:
        emit(f"{name} is already in {done.path}\n")
        return ExitCode.OK
    lines = [f"{'replaced' if done.replaced is not None else 'added'} {name} in {done.path}"]
    lines += [f"backup: {done.backup}"] if done.backup is not None else []
    emit("\n".join((*lines, f"now: {host.restart}", "")))
    return ExitCode.OK


def _path(host: Host, options: argparse.Namespace) -> Path:
    from assay.hosts.host import applications

    if options.config is not None:
        return Path(options.config)
    if not options.project:
        return host.places.path(Path.home(), applications())
    if not host.project:
        fix = "leave out --project, or name a file with --config"
        raise CommandFailed(ExitCode.USAGE, f"{host.title} has no settings of projects", fix)
    return Path(host.project)


def _document(key: str, name: str, settings: dict[str, object]) -> str:
    return f"{json.dumps({key: {name: settings}}, indent=2, ensure_ascii=False)}\n"


def _named_entry(words: list[str], options: argparse.Namespace) -> tuple[str, Entry]:
    from assay.hosts.entry import Local, Remote

    env = dict(_parts(VARIABLE, text, "--env", "NAME=VALUE") for text in options.env)
    headers = dict(_parts(HEADER, text, "--header", "'Name: value'") for text in options.header)
    target = _target(words, options)
    entry: Entry
    if isinstance(target, Url):
        if env:
            raise CommandFailed(ExitCode.USAGE, "--env is for commands, not for a URL", "use --header")
        name, entry = target.url.partition("://")[2].split("/")[0].split("@")[-1], Remote(target.url, headers)
        name = name.partition(":")[0]
    else:
        if headers:
            raise CommandFailed(ExitCode.USAGE, "--header is for a URL, not for a command", "use --env")
        command = _served(target) if isinstance(target, Served) else target.words
        name, entry = _name_of(target), Local(command, env)
    name = options.name or re.sub(r"[^\w.-]+", "-", name).strip("-.") or "server"
    if not NAME.fullmatch(name):
        problem = f"not a name for a server: {name!r}"
        raise CommandFailed(ExitCode.USAGE, problem, "use up to 64 letters, digits, `-`, `_` and `.`")
    return name, entry


def _target(words: list[str], options: argparse.Namespace) -> Url | Command | Served:
    if options.command_words is not None:
        refuse_more(words)
        return Command(parse_command(shlex.join(options.command_words)))
    if len(words) != 1:
        problem = "no server to install" if not words else f"TARGET is one word, and these are {len(words)}"
        raise CommandFailed(ExitCode.USAGE, problem, "give a URL, a Python file, or a command after `--`")
    return parse_target(words[0])


def _parts(form: re.Pattern[str], text: str, option: str, shown: str) -> tuple[str, str]:
    match = form.fullmatch(text)
    if match is None or not match[2].isprintable():
        raise CommandFailed(ExitCode.USAGE, f"{option} must be {shown}: {text.partition('=')[0][:40]!r}")
    return match[1], match[2]


def _served(target: Served) -> tuple[str, ...]:
    """Applications start servers in a directory of theirs: a file needs its whole path."""
    path, separator, name = target.name.rpartition(".py")
    where = f"{Path(f'{path}.py').resolve()}{name}" if separator else target.name
    return (sys.executable, "-m", "assay", "serve", where, *target.options)


def _name_of(target: Command | Served) -> str:
    """The file, bundled server or module; of a command, the last word that may name a package."""
    if isinstance(target, Served):
        path = Path(target.name.partition(":")[0]).resolve()
        return (
            target.name if target.name in BUNDLED else path.parent.name if path.stem in PLAIN else path.stem
        )
    words = [word for word in target.words if not word.startswith("-")]
    return Path(words[1] if len(words) > 1 else words[0]).stem
