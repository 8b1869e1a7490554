"""The parser of every command: help that fits the terminal, and a suggestion for every mistake."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from assay.cli.output.stream import emit

from .exit_code import CommandFailed, ExitCode

WIDTH: Final = 110
NAMES: Final = 30
"""Columns for the options, before their help."""


if TYPE_CHECKING:
    from typing import Protocol

    class Command(Protocol):
        """The names in the module of a command."""

        SUMMARY: str
        GROUP: str
        USAGE: str
        """What follows `assay <command>`."""
        __doc__: str | None

        def configure(self, parser: Parser, /) -> None: ...

        def execute(self, options: argparse.Namespace, /) -> int: ...


class Action(NamedTuple):
    """A part of a command with separate options, as `check` in `assay registry check`."""

    usage: str
    summary: str
    configure: Callable[[Parser], None]
    execute: Callable[[argparse.Namespace], int]


class Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=NAMES, width=WIDTH)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """`-o, --output DIR` instead of `-o DIR, --output DIR`."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, action.metavar or action.dest.upper())  # type: ignore[arg-type]
        return f"{', '.join(action.option_strings)} {value}"


class Parser(argparse.ArgumentParser):
    """Raises `CommandFailed` instead of ending the process."""

    def __init__(self, name: str, usage: str, description: str | None) -> None:
        super().__init__(
            prog=f"assay {name}",
            usage=f"assay {name} {usage}",
            description=description,
            formatter_class=Formatter,
            allow_abbrev=False,
            add_help=False,
        )
        self.takes_command = False
        """Whether words after `--` are a command, given as `options.command_words`."""

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        words, rest = list(arguments), None
        if self.takes_command and "--" in words:
            place = words.index("--")
            words, rest = words[:place], tuple(words[place + 1 :])
        options, unknown = self.parse_known_intermixed_args(words)
        if unknown:
            self._refuse(unknown)
        options.command_words = rest
        options.argument_words = list(arguments)
        return options

    def _print_message(self, message: str, file: object = None) -> None:
        emit(message)

    def error(self, message: str) -> NoReturn:
        raise CommandFailed(ExitCode.USAGE, message, f"see `{self.prog} --help`")

    def _refuse(self, unknown: Sequence[str]) -> NoReturn:
        option = next((word.partition("=")[0] for word in unknown if word.startswith("-")), None)
        if option is None:
            self.error(f"unexpected argument: {unknown[0]}")
        visible = (action for action in self._actions if action.help != argparse.SUPPRESS)
        hint = suggestion(option, [name for action in visible for name in action.option_strings])
        if hint is None:
            hint = f"`{self.prog} --help` shows all options"
        if self.takes_command:
            hint += f"{'' if hint.endswith('?') else ';'} options of your own command go after `--`"
        raise CommandFailed(ExitCode.USAGE, f"unknown option: {option}", hint)


def suggestion(word: str, known: Sequence[str]) -> str | None:
    from difflib import get_close_matches  # only mistakes need it

    alike = get_close_matches(word, known, n=1)
    return f"did you mean {alike[0]}?" if alike else None


def make_parser(
    name: str, usage: str, description: str | None, configure: Callable[[Parser], None]
) -> Parser:
    parser = Parser(name, usage, description)
    configure(parser)
    add = parser.add_argument_group("help").add_argument
    add("-h", "--help", action="help", help="show this text")
    add("--traceback", action="store_true", help="if the command fails, show where in the code")
    return parser


class Once(argparse.Action):
    """Refuses an option that is given twice: the first value would be lost."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        value: Any,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{'/'.join(self.option_strings)} is given twice: one server at a time")
        setattr(namespace, self.dest, value)


class Misplaced(argparse.Action):
    """An option of another command, which the answer names."""

    def __init__(self, option_strings: list[str], dest: str, *, hint: str, **options: Any) -> None:
        super().__init__(option_strings, dest, nargs="?", help=argparse.SUPPRESS, **options)
        self._hint = hint

    def __call__(self, parser: argparse.ArgumentParser, *arguments: object) -> NoReturn:
        option = self.option_strings[0]
        raise CommandFailed(ExitCode.USAGE, f"{option} is not an option of `{parser.prog}`", self._hint)
