"""`assay serve --clock` and `--random-seed`: seeds for `ctx.clock` and `ctx.random`, as replay sets them."""

from __future__ import annotations

import argparse
import os

from assay import Server, sources_from
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.output.stream import say
from assay.model.seed import CLOCK, RANDOM_SEED
from assay.server.calls.source import SYSTEM


def add_seeds(group: argparse._ArgumentGroup) -> None:
    clock = f"where `ctx.clock` begins, as 2026-01-01T00:00:00Z; default: {CLOCK}"
    group.add_argument("--clock", metavar="TIME", help=clock)
    seed = f"seed of `ctx.random`, for replay only; default: {RANDOM_SEED}"
    group.add_argument("--random-seed", metavar="TEXT", help=seed)


def use_seeds(server: Server, options: argparse.Namespace) -> None:
    """Replace the clock and the random numbers of a server, if there are seeds.

    Raises:
        CommandFailed: a seed is invalid.
    """
    options_by_name = {CLOCK: options.clock, RANDOM_SEED: options.random_seed}
    seeds = {name: value or os.environ.get(name, "") for name, value in options_by_name.items()}
    try:
        sources = sources_from(seeds)
    except ValueError as error:
        problem, hint = str(error), "write a time such as 2026-01-01T00:00:00Z, or unset the variable"
        raise CommandFailed(ExitCode.USAGE, problem, hint) from error
    if sources is not SYSTEM:
        server.sources = sources
        seeded = ", ".join(name for name, value in seeds.items() if value)
        say(f"seeded by {seeded}: time and random numbers repeat; not for production")
