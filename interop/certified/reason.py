"""Why each finding is true, written after comparing its frames with the demand.

A finding without a reason and a reason without a finding both fail the run.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from interop.certified.record import CertifiedServer

HERE = Path(__file__).parent


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    demand: str
    servers: list[str]
    why: str


def read_reasons(path: Path = HERE / "reasons.toml") -> dict[tuple[str, str], str]:
    """By server and demand."""
    rows = msgspec.convert(tomllib.loads(path.read_text("utf-8")).get("reason", []), list[Reason])
    return {(server, row.demand): row.why for row in rows for server in row.servers}


def breaches(reasons: Mapping[tuple[str, str], str], results: Iterable[CertifiedServer]) -> Iterator[str]:
    servers = list(results)
    names = {result.server for result in servers}
    unmet = {
        (result.server, demand.demand) for result in servers for demand in result.unmet if demand.findings
    }
    explained = {place for place in reasons if place[0] in names}
    for server, demand in sorted(unmet - explained):
        yield f"{server}: {demand} has no reason in reasons.toml"
    for server, demand in sorted(explained - unmet):
        yield f"{server}: the reason for {demand} has no finding"
