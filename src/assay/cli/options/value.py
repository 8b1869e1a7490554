"""Values of options: numbers, times, ports, networks."""

from __future__ import annotations

import argparse
import contextlib
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import timedelta

_UNITS: Final = {"d": "days", "h": "hours", "m": "minutes"}
_DURATION: Final = re.compile(r"([1-9]\d{0,5})([dhm])")


def seconds(text: str) -> float:
    """A number of seconds, up to a day."""
    with contextlib.suppress(ValueError):
        if 0 < (value := float(text)) < 86_400:
            return value
    raise argparse.ArgumentTypeError(
        f"{text!r} is not a number of seconds: write one above 0 and below 86400"
    )


def count(text: str) -> int:
    """A whole number from 1."""
    with contextlib.suppress(ValueError):
        if 0 < (value := int(text)) <= 10_000:
            return value
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 10000")


def port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: write a number from 0 to 65535")
    return int(text)


def network(text: str) -> str:
    from ipaddress import ip_network

    with contextlib.suppress(ValueError):
        return str(ip_network(text))
    raise argparse.ArgumentTypeError(
        f"{text!r} is neither an address nor a network: write 192.0.2.7 or 10.0.0.0/8"
    )


def duration(text: str) -> timedelta:
    """`90d`, `12h` or `30m`."""
    from datetime import timedelta

    match = _DURATION.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a length of time: write 90d, 12h or 30m")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})
