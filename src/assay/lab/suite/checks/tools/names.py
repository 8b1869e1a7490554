"""Names of tools are short, plain and unique."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.trace.listing import Listing, listings
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

LONGEST: Final = 128
ALLOWED: Final = re.compile(r"[A-Za-z0-9_.-]*")
SPECIAL: Final = re.compile(r"[^\w.-]")
"""Spaces, commas and the like; a letter of another alphabet is not allowed either, but no special."""


@check("Tool names are short, plain and unique", rows=("TL-07", "TL-09", "TL-10", "TL-11"))
def judge(trace: Trace) -> Iterator[Observation]:
    for listing in listings(trace, "tools/list", "tools"):
        for name in listing.names:
            yield from _each(name, listing)
        twice = sorted({name for name in listing.names if listing.names.count(name) > 1})
        if listing.names:
            yield observe("TL-11", not twice, listing, expected="no name twice", observed=", ".join(twice))


def _each(name: str, listing: Listing) -> Iterator[Observation]:
    yield observe(
        "TL-07",
        1 <= len(name) <= LONGEST,
        listing,
        expected=f"a name of 1 to {LONGEST} characters",
        observed=f"{len(name)} characters: {name[:40]!r}",
    )
    expected = "only letters A-Z and a-z, digits, underscore, hyphen and dot"
    plain = ALLOWED.fullmatch(name) is not None
    yield observe("TL-09", plain, listing, expected=expected, observed=repr(name))
    special = SPECIAL.search(name)
    yield observe("TL-10", special is None, listing, expected=expected, observed=repr(name))
