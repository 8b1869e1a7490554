"""Lengths of time as a user writes them: `90d`, `12h`, `30m`."""

from __future__ import annotations

import argparse
import re
from datetime import timedelta
from typing import Final

_UNITS: Final = {"d": "days", "h": "hours", "m": "minutes"}
_WRITTEN: Final = re.compile(r"([1-9]\d{0,5})([dhm])")


def duration(text: str) -> timedelta:
    """
    Raises:
        argparse.ArgumentTypeError: this is none.
    """
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no length of time: write 90d, 12h or 30m")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
