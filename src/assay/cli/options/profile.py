"""`assay serve --profile`: the profile of a marketplace, and the ledger."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay import RegistrationError, Server
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.output.stream import say_lines

if TYPE_CHECKING:
    from assay.profile.ledger import Ledger
    from assay.signing.keys import SigningKey

PROFILES: Final = ("intelgraph", "intelgraph/2026-11", "intelgraph/2025-10")
"""The others name an edition; the first is the newest."""
FIRST: Final = "intelgraph/2025-10"
"""It refuses batches also at the revision that has them, and keeps no ledger unless it is told where."""
TIERS: Final = ("short-30d", "standard-365d", "extended-730d", "legal-hold")
"""Those of `assay.profile.retention`, which loads only when it is needed."""
NEEDING: Final = ("ledger", "ledger_key", "retention")


def add_profile(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--profile", metavar="NAME", help=f"follow this profile: {' or '.join(PROFILES)}")
    tiers = f"default retention: {', '.join(TIERS)}"
    add("--retention", metavar="TIER", choices=TIERS, help=tiers)
    ledger = "record calls of tools there, as a chain of hashes; default: ~/.local/state/assay"
    add("--ledger", metavar="DIR", help=ledger)
    add("--no-ledger", action="store_true", help="record no calls")
    add("--ledger-key", metavar="FILE", help="sign the ledger with this key; `assay keygen` makes one")


def use_profile(server: Server, options: argparse.Namespace) -> None:
    """
    Raises:
        CommandFailed: the profile is unknown, or the server cannot follow it.
    """
    if options.profile is None:
        return refuse_without_profile(options)
    if options.profile not in PROFILES:
        problem = f"unknown profile: {options.profile}"
        raise CommandFailed(ExitCode.USAGE, problem, f"profiles: {', '.join(PROFILES)}")
    from assay.profile import Profile

    retention = {} if options.retention is None else {"retention": options.retention}
    try:
        ledger = open_ledger(options, server.info.name)
        server.use(Profile(**retention, batch=options.profile != FIRST, ledger=ledger))
    except RegistrationError as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error


def refuse_without_profile(options: argparse.Namespace) -> None:
    for name in NEEDING:
        if getattr(options, name) is not None:
            problem = f"--{name.replace('_', '-')} is part of a profile"
            raise CommandFailed(ExitCode.USAGE, problem, f"add --profile {PROFILES[0]}")


def open_ledger(options: argparse.Namespace, server: str) -> Ledger | None:
    """The ledger in the directory of the options; without one, in a default directory if that is possible."""
    if options.no_ledger or (options.ledger is None and options.profile == FIRST):
        if options.ledger or options.ledger_key:
            raise CommandFailed(ExitCode.USAGE, "no ledger is kept with these options", "give --ledger DIR")
        return None
    try:
        from assay.profile.ledger import Ledger
    except ImportError as error:
        problem = 'a ledger needs cryptography: pip install "assay-mcp[certify]"'
        _report_no_ledger(options, problem, "or serve with --no-ledger", error)
        return None
    from assay.profile.port import LedgerFailed

    key = read_key(options.ledger_key)
    directory = options.ledger or str(default_ledger(server))
    try:
        if options.ledger is None:
            Path(directory).mkdir(parents=True, exist_ok=True, mode=0o700)
        return Ledger(directory, key)
    except (LedgerFailed, OSError) as error:
        _report_no_ledger(options, str(error), "give --ledger a directory that you can write to", error)
        return None


def _report_no_ledger(options: argparse.Namespace, problem: str, fix: str, error: Exception) -> None:
    """An explicit ledger must be kept; without a place for the default one, the server says so and runs."""
    if options.ledger is not None or options.ledger_key is not None:
        raise CommandFailed(ExitCode.NOT_STARTED, problem, fix) from error
    say_lines([f"assay serve: no ledger is kept: {problem}"])


def default_ledger(server: str) -> Path:
    """Where calls are recorded if no directory is named: one for each server."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", server).strip(".-") or "server"
    return state / "assay" / "ledger" / name[:64]


def read_key(path: str | None) -> SigningKey | None:
    if path is None:
        return None
    from assay.signing.keys import BadKey, read_signing_key

    try:
        return read_signing_key(Path(path))
    except BadKey as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error
