"""The options of `assay serve` for a marketplace's profile."""

from __future__ import annotations

import argparse

from assay import Server

from .exit_code import CommandFailed, ExitCode


def add_profile(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--profile", metavar="NAME", help="keep to this marketplace's profile: intelgraph")


def put_profile(server: Server, options: argparse.Namespace) -> None:
    if options.profile is not None:
        raise CommandFailed(ExitCode.USAGE, f"unknown profile: {options.profile}")
