"""`assay serve --profile`: the profile of a marketplace, and the ledger."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay import RegistrationError, Server
from assay.cli.exit_code import CommandFailed, ExitCode

if TYPE_CHECKING:
    from assay.profile.ledger import Ledger
    from assay.signing.keys import SigningKey

PROFILES: Final = ("intelgraph", "intelgraph/2025-10")
"""The second names its edition; the first is the newest."""
TIERS: Final = ("short-30d", "standard-365d", "extended-730d", "legal-hold")
"""Those of `assay.profile.retention`, which loads only when it is needed."""
NEEDING: Final = ("ledger", "ledger_key", "retention")


def add_profile(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--profile", metavar="NAME", help=f"follow this profile: {' or '.join(PROFILES)}")
    tiers = f"default retention: {', '.join(TIERS)}"
    add("--retention", metavar="TIER", choices=TIERS, help=tiers)
    add("--ledger", metavar="DIR", help="record each call of a tool there, as a chain of hashes")
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
        server.use(Profile(**retention, ledger=open_ledger(options)))
    except RegistrationError as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error


def refuse_without_profile(options: argparse.Namespace) -> None:
    for name in NEEDING:
        if getattr(options, name) is not None:
            problem = f"--{name.replace('_', '-')} is part of a profile"
            raise CommandFailed(ExitCode.USAGE, problem, f"add --profile {PROFILES[0]}")


def open_ledger(options: argparse.Namespace) -> Ledger | None:
    if options.ledger is None:
        if options.ledger_key is not None:
            raise CommandFailed(ExitCode.USAGE, "--ledger-key signs a ledger", "add --ledger DIR")
        return None
    try:
        from assay.profile.ledger import Ledger
    except ImportError as error:
        problem = 'a ledger needs cryptography: pip install "assay-mcp[certify]"'
        raise CommandFailed(ExitCode.NOT_STARTED, problem) from error
    from assay.profile.port import LedgerFailed

    try:
        return Ledger(options.ledger, read_key(options.ledger_key))
    except LedgerFailed as error:
        hint = "give --ledger a directory that you can write to"
        raise CommandFailed(ExitCode.NOT_STARTED, str(error), hint) from error


def read_key(path: str | None) -> SigningKey | None:
    if path is None:
        return None
    from assay.signing.keys import BadKey, read_signing_key

    try:
        return read_signing_key(Path(path))
    except BadKey as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error
