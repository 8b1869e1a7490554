"""The command line's front door: picks the command, runs it, turns however it ended into an exit code."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import NoReturn, Protocol, cast

from assay import __version__

from .exit_code import CommandFailed, ExitCode

ABOUT = """\
Assay: build MCP servers, and prove them.

usage: assay <command> [options]

commands:
{commands}

examples:
  assay serve server.py                      serve your own server on stdin and stdout
  assay serve server.py --transport http     the same at http://localhost:3000/mcp
  assay serve reference --transport http     a server with every capability, to try a client on
  assay server --command "python server.py"  judge a server; --url does the same over HTTP
  assay serve --help                         all about one command

options:
  -h, --help       show this text
  -V, --version    show the version"""


class Command(Protocol):
    """What a command's module holds."""

    SUMMARY: str
    __doc__: str | None

    def configure(self, parser: argparse.ArgumentParser, /) -> None: ...

    def execute(self, options: argparse.Namespace, /) -> int: ...


class Parser(argparse.ArgumentParser):
    """Reports a mistake as every other failure is reported, instead of leaving the process."""

    def error(self, message: str) -> NoReturn:
        raise CommandFailed(ExitCode.USAGE, message, f"see `{self.prog} --help`")


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        return run(arguments)
    except CommandFailed as failure:
        return report(failure, failure.__cause__, arguments)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:
        ours = f"internal error: {type(error).__name__}: {error}"
        hint = "this is a fault of Assay; `--traceback` shows where"
        return report(CommandFailed(ExitCode.OUR_FAULT, ours, hint), error, arguments)


def run(arguments: list[str]) -> int:
    if not arguments:
        print(help_text(), file=sys.stderr)
        return ExitCode.USAGE
    name, *rest = arguments
    if name in ("-h", "--help"):
        print(help_text())
    elif name in ("-V", "--version"):
        print(f"assay {__version__}")
    else:
        return run_command(name, find(name), rest)
    return ExitCode.OK


def run_command(name: str, command: Command, arguments: list[str]) -> int:
    parser = Parser(
        prog=f"assay {name}",
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--traceback", action="store_true", help="when it fails, also show where in the code")
    command.configure(parser)
    try:
        options = parser.parse_args(arguments)
    except SystemExit:  # how argparse ends after `--help`
        return ExitCode.OK
    return command.execute(options)


def report(failure: CommandFailed, cause: BaseException | None, arguments: list[str]) -> int:
    if cause is not None and "--traceback" in arguments:
        traceback.print_exception(cause)
    print(f"assay: error: {failure}", file=sys.stderr)
    return failure.code


def command_names() -> Iterator[str]:
    """Every module beside this one. Which of them is a command, only loading it tells."""
    return (module.name.replace("_", "-") for module in iter_modules([str(Path(__file__).parent)]))


def load(name: str) -> Command | None:
    module = import_module(f".{name.replace('-', '_')}", __package__)
    return cast("Command", module) if hasattr(module, "SUMMARY") else None


def find(name: str) -> Command:
    command = load(name) if name in command_names() else None
    if command is not None:
        return command
    what = "option" if name.startswith("-") else "command"
    known = ", ".join(name for name, _ in commands())
    raise CommandFailed(ExitCode.USAGE, f"unknown {what}: {name}", f"commands: {known}; see `assay --help`")


def commands() -> Iterator[tuple[str, Command]]:
    for name in command_names():
        command = load(name)
        if command is not None:
            yield name, command


def help_text() -> str:
    return ABOUT.format(commands="\n".join(f"  {name:<11}{command.SUMMARY}" for name, command in commands()))


if __name__ == "__main__":
    sys.exit(main())
