"""The suites that are shipped, each loaded when somebody needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from assay.lab.harness.catalogue import Suite, load_suite
from assay.lab.harness.scenario import Role


class Shipped(Struct, frozen=True):
    package: str
    server: str
    """The bundled server that its saboteurs stand before; none where clients are judged."""
    plain: str
    """The scenario for faults that show in any conversation."""
    about: str
    role: Role = Role.SERVER


SHIPPED: Final[Mapping[str, Shipped]] = MappingProxyType(
    {
        "protocol": Shipped(
            "assay.lab.suite", "reference", "jsonrpc.unknown-method", "the specification, on any server"
        ),
        "everything": Shipped(
            "assay.lab.everything",
            "everything",
            "ping",
            "the official scenarios, on a server with their fixtures",
        ),
        "marketplace": Shipped(
            "assay.lab.marketplace",
            "reference --profile intelgraph --root {folder} --ledger {ledger} --heartbeat 0.2",
            "jrpc.ids",
            "the marketplace's profile, on a server that claims it",
        ),
        "client": Shipped(
            "assay.lab.client",
            "",
            "tools_call",
            "the official scenarios and the specification, on any client",
            Role.CLIENT,
        ),
    }
)


@cache
def suite_named(name: str) -> Suite:
    """
    Raises:
        KeyError: there is no such suite.
    """
    shipped = SHIPPED[name]
    return load_suite(name, shipped.package, server=shipped.server, plain=shipped.plain, role=shipped.role)


def protocol_suite() -> Suite:
    """What a server is judged by unless its user wants something else."""
    return suite_named("protocol")


def every_suite() -> Iterator[Suite]:
    return (suite_named(name) for name in SHIPPED)
