"""The built-in suites, loaded on demand."""

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
    """The bundled server that saboteurs alter; empty in a suite for clients."""
    plain: str
    """The scenario for faults that any conversation shows."""
    about: str
    role: Role = Role.SERVER


SHIPPED: Final[Mapping[str, Shipped]] = MappingProxyType(
    {
        "protocol": Shipped(
            "assay.lab.suite", "reference", "jsonrpc.unknown-method", "the specification, for any server"
        ),
        "everything": Shipped(
            "assay.lab.everything",
            "everything",
            "ping",
            "the official scenarios, for a server with their fixtures",
        ),
        "marketplace": Shipped(
            "assay.lab.marketplace",
            "reference --profile intelgraph --root {folder} --ledger {ledger} --heartbeat 0.2",
            "jrpc.ids",
            "the marketplace profile, for a server that claims it",
        ),
        "client": Shipped(
            "assay.lab.client",
            "",
            "tools_call",
            "the official scenarios and the specification, for any client",
            Role.CLIENT,
        ),
    }
)


@cache
def suite_named(name: str) -> Suite:
    """
    Raises:
        KeyError: unknown suite.
    """
    shipped = SHIPPED[name]
    return load_suite(name, shipped.package, server=shipped.server, plain=shipped.plain, role=shipped.role)


def protocol_suite() -> Suite:
    """The default suite for servers."""
    return suite_named("protocol")


def every_suite() -> Iterator[Suite]:
    return (suite_named(name) for name in SHIPPED)
