"""Picks the command, runs it, and turns however it ended into an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from assay import __version__
from assay.cli.output.stream import emit, open_closed_streams, say_lines
from assay.model.error import AssayError

from .exit_code import CommandFailed, ExitCode, code_of
from .parser import Parser, make_parser, suggestion

if TYPE_CHECKING:
    from .parser import Action, Command

ABOUT: Final = """\
Assay: build MCP servers, and prove that they conform.

usage: assay <command> [options]

examples:
  assay check http://localhost:3000/mcp      judge the server at a URL
  assay check server.py                      judge a server in a Python file
  assay check -- npx some-server --flag      judge a server that a command starts
  assay check --client -- python client.py   judge a client
  assay serve server.py --transport http     serve your server at http://localhost:3000/mcp
  assay serve reference --transport http     serve one with every capability, to try a client on
  assay tools server.py                      list the tools of a server
  assay call server.py add a=1 b=2           call one of them
  assay doctor https://example.com/mcp       find out why a server cannot be reached

{commands}
options:
  -h, --help       show this text; `assay <command> --help` explains a command
  -V, --version    show the version"""
OTHER_NAMES: Final = {
    "run": "write `assay serve server.py`",
    "dev": "write `assay serve server.py --debug`",
    "inspect": "write `assay tools server.py`",
}
"""Commands of fastmcp, and what to write."""
HERE: Final = os.path.dirname(__file__)
GROUPS: Final = ("build and serve", "call", "judge", "certify")


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    open_closed_streams()
    arguments = sys.argv[1:] if argv is None else argv
    try:
        return run(arguments)
    except CommandFailed as failure:
        return report(failure, failure.code, failure.__cause__, arguments)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except AssayError as error:
        code = code_of(error)
        return (
            internal(error, arguments)
            if code is ExitCode.OUR_FAULT
            else report(error, code, error, arguments)
        )
    except Exception as error:
        return internal(error, arguments)


def run(arguments: list[str]) -> int:
    if not arguments:
        say_lines(help_text().split("\n"))
        return ExitCode.USAGE
    name, *rest = arguments
    if name in ("-h", "--help"):
        emit(f"{help_text()}\n")
    elif name in ("-V", "--version"):
        emit(f"assay {__version__}\n")
    else:
        return run_command(name, find(name), rest)
    return ExitCode.OK


def run_command(name: str, command: Command, arguments: list[str]) -> int:
    if hasattr(command, "variant"):
        chosen, arguments = command.variant(arguments)
        if chosen != name:
            name, command = f"{name} --{chosen}", find(chosen)
    if hasattr(command, "ACTIONS"):
        return run_action(name, command, command.ACTIONS, arguments)
    return parse_and_run(
        make_parser(name, command.USAGE, command.__doc__, command.configure), command.execute, arguments
    )


def run_action(name: str, command: Command, actions: Mapping[str, Action], arguments: list[str]) -> int:
    known = "|".join(actions)
    word, *rest = arguments or [""]
    action = actions.get(word)
    if action is not None:
        about = f"{action.summary[0].upper()}{action.summary[1:]}."
        parser = make_parser(f"{name} {word}", action.usage, about, action.configure)
        return parse_and_run(parser, action.execute, rest)
    if word in ("-h", "--help"):
        lines = [f"  {word:<11}{action.summary}" for word, action in actions.items()]
        emit("\n".join((f"usage: assay {name} {known} …\n", f"{command.__doc__}\nactions:", *lines, "")))
        return ExitCode.OK
    hint = suggestion(word, list(actions)) or f"write `assay {name} {known} …`"
    raise CommandFailed(ExitCode.USAGE, f"unknown action: {word}" if word else "which action?", hint)


def parse_and_run(parser: Parser, execute: Callable[[argparse.Namespace], int], arguments: list[str]) -> int:
    try:
        options = parser.parse(arguments)
    except SystemExit:  # how argparse ends after `--help`
        return ExitCode.OK
    return execute(options)


def report(failure: Exception, code: ExitCode, cause: BaseException | None, arguments: list[str]) -> ExitCode:
    if cause is not None and "--traceback" in arguments:
        from traceback import format_exception

        say_lines("".join(format_exception(cause)).splitlines())
    kind = "" if code is ExitCode.INTERRUPTED else "error: "
    problem, fix = getattr(failure, "problem", str(failure)), getattr(failure, "fix", None)
    details = (f"  {line}" for line in getattr(failure, "details", ()))
    say_lines([f"assay: {kind}{problem}", *details, *([f"  {fix}"] if fix else [])])
    return code


def internal(error: Exception, arguments: list[str]) -> ExitCode:
    text = f"internal error: {type(error).__name__}: {error}"
    hint = "this is a fault of Assay; `--traceback` shows where"
    return report(CommandFailed(ExitCode.OUR_FAULT, text, hint), ExitCode.OUR_FAULT, error, arguments)


def command_names() -> Iterator[str]:
    """Every module beside this one. Only loading it shows whether it is a command."""
    from pkgutil import iter_modules

    modules = iter_modules([HERE])
    return (module.name.replace("_", "-") for module in modules if not module.ispkg)


def load(name: str) -> Command | None:
    module = import_module(f".{_module(name)}", __package__)
    return cast("Command", module) if hasattr(module, "SUMMARY") else None


def _module(name: str) -> str:
    return name.replace("-", "_")


def find(name: str) -> Command:
    is_module = name.replace("-", "").isalnum() and os.path.isfile(f"{HERE}/{_module(name)}.py")
    command = load(name) if is_module else None
    if command is not None:
        return command
    kind = "option" if name.startswith("-") else "command"
    hint = OTHER_NAMES.get(name) or suggestion(name, [known for known, _ in commands()])
    hint = hint or "`assay --help` shows all commands"
    raise CommandFailed(ExitCode.USAGE, f"unknown {kind}: {name}", hint)


def commands() -> Iterator[tuple[str, Command]]:
    for name in command_names():
        command = load(name)
        if command is not None:
            yield name, command


def help_text() -> str:
    lines = []
    known = list(commands())
    for group in GROUPS:
        lines.append(f"{group}:")
        lines += [f"  {name:<11}{command.SUMMARY}" for name, command in known if group == command.GROUP]
        lines.append("")
    return ABOUT.format(commands="\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
