"""`--suite`, and the suites that it names."""

from __future__ import annotations

import argparse
from typing import Final

FUZZ: Final = "fuzz"
"""Generates its messages: it has no scenarios to list and no saboteurs to try."""


def add_suite(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, *more: str, default: str = ""
) -> None:
    names = ", ".join(("protocol", "everything", "marketplace", *more))
    parser.add_argument("--suite", default=default, metavar="NAME", help=f"{names}; default: protocol")
