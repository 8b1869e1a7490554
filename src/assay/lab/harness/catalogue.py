"""A suite: its requirements, scenarios, checks and saboteurs, found by looking into its packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import TypeVar

from msgspec import Struct

from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur
from assay.lab.harness.sabotage.fault import Fault
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.revisions.revision import Revision

from .check import Check
from .requirement import Requirement, client_requirements, read_requirements
from .scenario import Role, Scenario
from .transport import Transport

T = TypeVar("T", Check, Scenario, Saboteur, ClientSaboteur)


class BadSuite(ValueError):
    """The parts of a suite do not fit together; the text says where."""


class Suite(Struct, frozen=True, dict=True):
    name: str
    package: str
    server: str
    """The bundled server that its saboteurs stand before, unless they name another; none judges clients."""
    requirements: Mapping[str, Requirement]
    scenarios: Mapping[str, Scenario]
    checks: Mapping[str, Check]
    role: Role = Role.SERVER
    """Which part the subjects play that it judges."""
    plain: str = ""
    """The scenario for faults that show in any conversation: it runs everywhere and needs nothing."""

    @cached_property
    def saboteurs(self) -> Mapping[str, Saboteur]:
        """Loaded when somebody asks: who judges a server needs none of them. A suite about clients has none.

        Raises:
            BadSuite: one breaks a requirement that does not exist.
        """
        return self._loaded(Saboteur) if self.role is Role.SERVER else {}

    @cached_property
    def client_saboteurs(self) -> Mapping[str, ClientSaboteur]:
        """The same, of a suite about clients."""
        return self._loaded(ClientSaboteur) if self.role is Role.CLIENT else {}

    @property
    def faults(self) -> Mapping[str, Fault]:
        """All saboteurs, of either kind."""
        return {**self.saboteurs, **self.client_saboteurs}

    def _loaded(self, wanted: type[T]) -> Mapping[str, T]:
        found = _found(import_module(self.package), "saboteurs", wanted)
        for one in found.values():
            assert isinstance(one, Fault)
            if one.breaks not in self.requirements:
                raise BadSuite(f"saboteur {one.id} breaks {one.breaks}, which is no requirement")
        return found

    def is_worth_playing(self, scenario: Scenario, transport: Transport, revision: Revision) -> bool:
        """Whether anything that the scenario looks for is in force there."""
        return any(
            transport in one.transports and any(self.requirements[row].level(revision) for row in one.rows)
            for one in (self.checks[name] for name in scenario.exercises)
        )

    def sought(self, scenario: Scenario) -> list[str]:
        """The ids of results that a scenario is played for."""
        return [name for check in scenario.exercises for name in self.checks[check].results]

    def judging(self, scenario: Scenario) -> list[Check]:
        """The checks that read a scenario's trace: those that it exercises, then those that read all."""
        named = [self.checks[name] for name in scenario.exercises]
        if scenario.also is not None:
            return named + [self.checks[name] for name in scenario.also]
        return named + [one for one in self.checks.values() if one.everywhere and one not in named]


def load_suite(name: str, package_name: str, *, server: str, plain: str, role: Role = Role.SERVER) -> Suite:
    """Load the suite in a package.

    Raises:
        BadSuite: a module declares none or two, or names what does not exist.
    """
    package = import_module(package_name)
    (home,) = package.__path__
    suite = Suite(
        name=name,
        package=package_name,
        server=server,
        requirements=_requirements(Path(home), role),
        scenarios=_found(package, "scenarios", Scenario),
        checks=_found(package, "checks", Check),
        role=role,
        plain=plain,
    )
    for complaint in complaints(suite):
        raise BadSuite(complaint)
    return suite


def _requirements(home: Path, role: Role) -> dict[str, Requirement]:
    """The rows of a suite; one about clients has those too that hold for both sides."""
    own = home / "requirements"
    if role is Role.SERVER:
        return read_requirements(own)
    return client_requirements(home.with_name("suite") / "requirements", own)


def _found(package: ModuleType, kind: str, wanted: type[T]) -> dict[str, T]:
    below = import_module(f"{package.__name__}.{kind}")
    names = [
        module.name for module in walk_packages(below.__path__, f"{below.__name__}.") if not module.ispkg
    ]
    found = (_declared(import_module(name), wanted) for name in sorted(names))
    return {one.id: one for one in found}


def _declared(module: ModuleType, wanted: type[T]) -> T:
    declared = [value for value in vars(module).values() if isinstance(value, wanted)]
    if len(declared) != 1:
        raise BadSuite(f"{module.__name__}: declares {len(declared)} {wanted.__name__.lower()}s, not one")
    return declared[0]


def complaints(suite: Suite) -> Iterator[str]:
    for scenario in suite.scenarios.values():
        for name in (*scenario.exercises, *(scenario.also or ())):
            if name not in suite.checks:
                yield f"scenario {scenario.id} exercises {name}, which is no check"
    for one in suite.checks.values():
        for row in one.rows:
            if row not in suite.requirements:
                yield f"check {one.id} cites {row}, which is no requirement"
            elif suite.requirements[row].reason:
                yield f"check {one.id} cites {row}, which has a reason to have no check"
