"""A suite: its requirements, and the scenarios, checks and saboteurs of its topic modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur
from assay.lab.harness.sabotage.fault import Fault
from assay.lab.harness.sabotage.saboteur import Saboteur
from assay.revisions.revision import Revision

from .check import Check
from .fix import read_fixes
from .requirement import Requirement, client_requirements, read_requirements
from .scenario import Role, Scenario
from .transport import Transport

P = TypeVar("P", Check, Requirement)
T = TypeVar("T", Check, Scenario, Saboteur, ClientSaboteur)


class BadSuite(ValueError):
    """The parts of a suite do not fit together."""


class Suite(Struct, frozen=True):
    name: str
    package: str
    server: str
    """The bundled server that saboteurs alter by default; empty in a suite for clients."""
    requirements: Mapping[str, Requirement]
    scenarios: Mapping[str, Scenario]
    checks: Mapping[str, Check]
    role: Role = Role.SERVER
    """Role of the subjects."""
    plain: str = ""
    """The scenario for faults that any conversation shows: it runs everywhere and has no needs."""

    saboteurs: Mapping[str, Saboteur] = {}
    """Servers with one fault each; empty in a suite that judges clients."""
    client_saboteurs: Mapping[str, ClientSaboteur] = {}

    @property
    def faults(self) -> Mapping[str, Fault]:
        """All saboteurs, of either kind."""
        return {**self.saboteurs, **self.client_saboteurs}

    def has_requirement(self, scenario: Scenario, transport: Transport, revision: Revision) -> bool:
        """Whether a requirement of the scenario's checks is in force on this transport and revision."""
        return any(
            transport in check.transports
            and any(self.requirements[name].level(revision) for name in check.requirements)
            for check in (self.checks[name] for name in scenario.exercises)
        )

    def sought(self, scenario: Scenario) -> list[str]:
        """The ids of the results that a scenario is meant to produce."""
        return [name for check in scenario.exercises for name in self.checks[check].results]

    def judging(self, scenario: Scenario) -> list[Check]:
        """The checks that read a scenario's trace: those that it exercises, then those that read all."""
        exercised = [self.checks[name] for name in scenario.exercises]
        if scenario.also is not None:
            return exercised + [self.checks[name] for name in scenario.also]
        others = (check for check in self.checks.values() if check.everywhere)
        return exercised + [check for check in others if check not in exercised]


def load_suite(name: str, package_name: str, *, server: str, plain: str, role: Role = Role.SERVER) -> Suite:
    """Load the suite in a package.

    Raises:
        BadSuite: two parts have the same id, or a reference is unknown.
    """
    package = import_module(package_name)
    (home,) = package.__path__
    modules = _modules(package)
    fixes = read_fixes(Path(home))
    suite = Suite(
        name=name,
        package=package_name,
        server=server,
        requirements=_with_fixes(_requirements(Path(home), role), fixes.requirements),
        scenarios=_declared(modules, Scenario),
        checks=_with_fixes(_declared(modules, Check), fixes.checks),
        saboteurs=_declared(modules, Saboteur),
        client_saboteurs=_declared(modules, ClientSaboteur),
        role=role,
        plain=plain,
    )
    for complaint in complaints(suite):
        raise BadSuite(complaint)
    return suite


def _with_fixes(parts: Mapping[str, P], fixes: Mapping[str, str]) -> dict[str, P]:
    """
    Raises:
        BadSuite: a text is about nothing.
    """
    if unknown := fixes.keys() - parts.keys():
        raise BadSuite(f"fixes.toml: unknown: {', '.join(sorted(unknown))}")
    return {name: replace(part, fix=fixes[name]) if name in fixes else part for name, part in parts.items()}


def _requirements(home: Path, role: Role) -> dict[str, Requirement]:
    """The requirements of a suite; for clients, with the shared ones that bind both sides."""
    own = home / "requirements"
    if role is Role.SERVER:
        return read_requirements(own)
    return client_requirements(home.with_name("suite") / "requirements", own)


def _modules(package: ModuleType) -> list[ModuleType]:
    names = sorted(module.name for module in walk_packages(package.__path__, f"{package.__name__}."))
    return [import_module(name) for name in names]


def _declared(modules: Iterable[ModuleType], kind: type[T]) -> dict[str, T]:
    """The parts of a kind in the modules, by id. A part that another module imports is the same object."""
    declared: dict[str, T] = {}
    for part in (part for module in modules for part in _parts(module) if isinstance(part, kind)):
        if declared.setdefault(part.id, part) is not part:
            raise BadSuite(f"two {kind.__name__.lower()}s have the id {part.id}")
    return dict(sorted(declared.items()))


def _parts(module: ModuleType) -> Iterator[object]:
    for value in vars(module).values():
        yield from value if isinstance(value, tuple) else (value,)


def complaints(suite: Suite) -> Iterator[str]:
    for scenario in suite.scenarios.values():
        for name in (*scenario.exercises, *(scenario.also or ())):
            if name not in suite.checks:
                yield f"scenario {scenario.id} exercises {name}, which is not a check"
    for check in suite.checks.values():
        for name in check.requirements:
            if name not in suite.requirements:
                yield f"check {check.id} cites {name}, which is not a requirement"
            elif suite.requirements[name].reason:
                yield f"check {check.id} cites {name}, which is excluded from checks"
    for saboteur in suite.faults.values():
        if saboteur.breaks not in suite.requirements:
            yield f"saboteur {saboteur.id} breaks {saboteur.breaks}, which is not a requirement"
