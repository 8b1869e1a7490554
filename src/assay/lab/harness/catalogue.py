"""A suite: its requirements, and the scenarios, checks and saboteurs of its topic modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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


class Suite(Struct, frozen=True):
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

    saboteurs: Mapping[str, Saboteur] = {}
    """Servers with one fault each; empty in a suite that judges clients."""
    client_saboteurs: Mapping[str, ClientSaboteur] = {}

    @property
    def faults(self) -> Mapping[str, Fault]:
        """All saboteurs, of either kind."""
        return {**self.saboteurs, **self.client_saboteurs}

    def is_worth_playing(self, scenario: Scenario, transport: Transport, revision: Revision) -> bool:
        """Whether anything that the scenario looks for is in force there."""
        return any(
            transport in one.transports
            and any(self.requirements[row].level(revision) for row in one.requirements)
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
        BadSuite: two parts have the same id, or one names what does not exist.
    """
    package = import_module(package_name)
    (home,) = package.__path__
    modules = _modules(package)
    suite = Suite(
        name=name,
        package=package_name,
        server=server,
        requirements=_requirements(Path(home), role),
        scenarios=_declared(modules, Scenario),
        checks=_declared(modules, Check),
        saboteurs=_declared(modules, Saboteur),
        client_saboteurs=_declared(modules, ClientSaboteur),
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


def _modules(package: ModuleType) -> list[ModuleType]:
    names = sorted(module.name for module in walk_packages(package.__path__, f"{package.__name__}."))
    return [import_module(name) for name in names]


def _declared(modules: Iterable[ModuleType], kind: type[T]) -> dict[str, T]:
    """What modules declare by name or in tuples. One module may import another's: it is the same object."""
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
                yield f"scenario {scenario.id} exercises {name}, which is no check"
    for one in suite.checks.values():
        for row in one.requirements:
            if row not in suite.requirements:
                yield f"check {one.id} cites {row}, which is no requirement"
            elif suite.requirements[row].reason:
                yield f"check {one.id} cites {row}, which has a reason to have no check"
    for saboteur in suite.faults.values():
        if saboteur.breaks not in suite.requirements:
            yield f"saboteur {saboteur.id} breaks {saboteur.breaks}, which is no requirement"
