"""Which server: a target on the command line, `--url`, `--command`, or words after `--`."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.parser import Once, Parser

from .access import add_headers

if TYPE_CHECKING:
    from assay.lab.target import Target

_COMBINATION = "a command after `--` goes with a URL, or stands alone"
TARGET = "a URL, server.py[:name], module:name, everything, reference, or a quoted command"


def add_subject(parser: Parser) -> None:
    """For a command that judges one server on any transport."""
    group = _add_target(parser)
    add = group.add_argument
    add("--url", "--server-url", metavar="URL", help="endpoint: http(s):// or ws(s)://")
    add("--command", metavar="LINE", help="command that serves on stdio, or at --url")
    choices = ("stdio", "http", "http-sse", "ws")
    add(
        "--transport", action="append", choices=choices, metavar="T", help=f"{', '.join(choices)}; repeatable"
    )
    add_headers(group)


def add_endpoints(parser: Parser) -> argparse._ArgumentGroup:
    """For a command that reaches one server in several ways at once."""
    group = _add_target(parser)
    add = group.add_argument
    add("-e", "--endpoint", action=Once, dest="url", metavar="URL", help="where it is served: http(s)://")
    add("--stdio", action=Once, dest="command", metavar="LINE", help="command that serves on stdio")
    add_headers(group)
    return group


def _add_target(parser: Parser) -> argparse._ArgumentGroup:
    parser.takes_command = True
    group = parser.add_argument_group("server")
    group.add_argument("target", metavar="TARGET", nargs="*", help=TARGET)
    return group


def target_from(options: argparse.Namespace) -> Target:
    """
    Raises:
        CommandFailed: the target is missing, or several do not go together.
        InvalidOptions: the target is not a URL, a server or a command.
    """
    from assay.lab.target import Command, Url, parse_target

    words = command_from(options)
    text = single_word(options)
    if text is None:
        if options.url is not None:
            return Url(options.url, words)
        if words:
            return Command(words)
        hint = "give a URL, a Python file, or a command after `--`; `assay check --help` shows examples"
        raise CommandFailed(ExitCode.USAGE, "no server to judge", hint)
    target = parse_target(text)
    if options.url is not None or (words and not isinstance(target, Url)):
        raise CommandFailed(ExitCode.USAGE, "give TARGET, or --url and --command, not both", _COMBINATION)
    return Url(target.url, words) if words and isinstance(target, Url) else target


def targets_from(options: argparse.Namespace) -> list[Target]:
    """The same server, by its command and at its URL.

    Raises:
        CommandFailed: the target is missing, or several do not go together.
        InvalidOptions: the target is not a URL, a server or a command.
    """
    from assay.lab.target import Command, Url, parse_target

    words = command_from(options)
    text = single_word(options)
    if text is not None:
        if options.url is not None or words:
            raise CommandFailed(ExitCode.USAGE, "give TARGET, or -e and --stdio, not both", _COMBINATION)
        return [parse_target(text)]
    targets: list[Target] = [Command(words)] if words else []
    targets += [Url(options.url)] if options.url is not None else []
    if not targets:
        raise CommandFailed(ExitCode.USAGE, "no server to judge", "give TARGET, -e URL or --stdio LINE")
    return targets


def command_from(options: argparse.Namespace) -> tuple[str, ...]:
    """The command of `--command`, or the words after `--`; empty if there is none."""
    from assay.lab.target import parse_command

    words: tuple[str, ...] | None = options.command_words
    if words is None:
        return () if options.command is None else parse_command(options.command)
    if options.command is not None:
        raise CommandFailed(ExitCode.USAGE, "the command is given twice", "write it once, after `--`")
    return parse_command(shlex.join(words))


def single_word(options: argparse.Namespace) -> str | None:
    """TARGET is one word: a command with arguments is quoted, or follows `--`."""
    words: list[str] = options.target
    if len(words) > 1:
        problem = f"TARGET is one word, and these are {len(words)}: {' '.join(words)}"
        assigned = "=" in words[0] and words[0].partition("=")[0].isidentifier()
        command = shlex.join(["env", *words] if assigned else words)
        raise CommandFailed(ExitCode.USAGE, problem, f"write the command after `--`: -- {command}")
    return words[0] if words else None
