"""`--oauth`: the user authorizes the command in a browser, once; tokens are stored for the next time."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.output.stream import say_lines
from assay.model.client_error import AuthorizationFailed

if TYPE_CHECKING:
    from assay.client.auth.oauth import OAuth

SECRET: Final = "ASSAY_CLIENT_SECRET"
OF_OAUTH: Final = ("client_id", "scope", "no_browser")


def add_oauth(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--oauth",
        action="store_true",
        help="get a token by OAuth: a browser opens, once; needs the extra `auth`",
    )
    add("--client-id", metavar="ID", help=f"registered client, its secret in {SECRET}; default: register one")
    add("--scope", action="append", default=[], metavar="S", help="scope to request; repeatable")
    add("--no-browser", action="store_true", help="show the page, and ask for the address that it leads to")


def auth_from(options: argparse.Namespace) -> OAuth | None:
    """
    Raises:
        CommandFailed: options do not go together, or cannot be used.
        MissingExtra: OAuth needs the extra `auth`.
    """
    if not options.oauth:
        used = [name for name in OF_OAUTH if getattr(options, name)]
        if used:
            option = f"--{used[0].replace('_', '-')}"
            raise CommandFailed(ExitCode.USAGE, f"{option} is for --oauth", "add --oauth, or leave it out")
        return None
    if options.token:
        raise CommandFailed(ExitCode.USAGE, "both --oauth and --token", "leave one of them out")
    from assay.client.auth.file_storage import FileStorage
    from assay.client.auth.oauth import OAuth

    secret = os.environ.get(SECRET) if options.client_id else None
    further: dict[str, Any] = {"visit": ask_user} if options.no_browser else {}
    try:
        return OAuth(
            scopes=options.scope,
            client_id=options.client_id,
            client_secret=secret,
            storage=FileStorage(token_directory()),
            **further,
        )
    except ValueError as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error


def token_directory() -> Path:
    """Where tokens are stored, one file for each server, readable by its owner only."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "assay" / "tokens"


async def ask_user(url: str) -> str:
    """For a machine without a browser: the user opens the page elsewhere.

    Raises:
        AuthorizationFailed: the user cannot be asked, or ended the input.
    """
    from .terminal import Terminal

    terminal = Terminal()
    say_lines(
        ["open this page, and agree:", f"  {url}", "the browser then fails to open an address on 127.0.0.1"]
    )
    if not terminal.is_there:
        raise AuthorizationFailed("--no-browser needs a terminal to paste the address")
    try:
        line = await terminal.ask("paste that address:")
    finally:
        terminal.close()
    if not line:
        raise AuthorizationFailed("the authorization was cancelled")
    return line
