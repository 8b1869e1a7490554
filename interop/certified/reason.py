"""Why a finding is true: a sentence for each, by somebody who has held the frames against the demand.

A finding without a sentence, and a sentence without a finding, fail the run.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from interop.certified.record import Certified

HERE = Path(__file__).parent


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    demand: str
    servers: list[str]
    why: str


def read_reasons(path: Path = HERE / "reasons.toml") -> dict[tuple[str, str], str]:
    """By server and demand."""
    rows = msgspec.convert(tomllib.loads(path.read_text("utf-8")).get("reason", []), list[Reason])
    return {(server, row.demand): row.why for row in rows for server in row.servers}


def breaches(reasons: Mapping[tuple[str, str], str], every: Iterable[Certified]) -> Iterator[str]:
    servers = list(every)
    names = {one.server for one in servers}
    found = {(one.server, each.demand) for one in servers for each in one.found}
    about = {place for place in reasons if place[0] in names}
    for server, demand in sorted(found - about):
        yield f"{server}: nobody has written why {demand} is not met"
    for server, demand in sorted(about - found):
        yield f"{server}: {demand} is explained, and was not found"
