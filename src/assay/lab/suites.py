"""The built-in suites and those of installed packages, loaded on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from assay.lab.harness.catalogue import BadSuite, Suite, load_suite
from assay.lab.harness.scenario import Role

from .outside import about as outside_about
from .outside import load_outside, outside_suites


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
            "reference --profile intelgraph/2025-10 --root {folder} --ledger {ledger} --heartbeat 0.2",
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
        BadSuite: an installed package brings a suite that cannot be loaded.
    """
    if name not in SHIPPED:
        return _distinct(load_outside(outside_suites()[name]))
    shipped = SHIPPED[name]
    return load_suite(name, shipped.package, server=shipped.server, plain=shipped.plain, role=shipped.role)


def protocol_suite() -> Suite:
    """The default suite for servers."""
    return suite_named("protocol")


def _distinct(suite: Suite) -> Suite:
    """The suite, whose scenarios must not be mistaken for others: a stored trace only names its scenario."""
    for other in map(suite_named, SHIPPED):
        if shared := suite.scenarios.keys() & other.scenarios.keys():
            raise BadSuite(f"the suite {suite.name} has a scenario {min(shared)}, as the suite {other.name}")
    return suite


def suite_names() -> tuple[str, ...]:
    """The names of all suites, the built-in ones first."""
    return (*SHIPPED, *outside_suites())


def about(name: str) -> str:
    """What a suite is for.

    Raises:
        KeyError: unknown suite.
        BadSuite: an installed package brings a suite that cannot be loaded.
    """
    return SHIPPED[name].about if name in SHIPPED else outside_about(outside_suites()[name])


def every_suite() -> Iterator[Suite]:
    return map(suite_named, suite_names())


def built_in_suites() -> Iterator[Suite]:
    return map(suite_named, SHIPPED)
