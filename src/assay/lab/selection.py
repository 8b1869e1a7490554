"""Which suite, scenarios and revisions the options select."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Final

import msgspec

from assay.lab.client.groups import groups, narrowed
from assay.lab.harness.catalogue import BadSuite, Suite
from assay.lab.harness.naming import dashed
from assay.lab.harness.run.plan import Selection, is_named
from assay.lab.harness.scenario import Role
from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Revision

from .error import InvalidOptions
from .options import JudgeOptions, RunOptions
from .suites import SHIPPED, every_suite, suite_named, suite_names

DEFAULT: Final = "protocol"
CLIENT: Final = "client"
_LISTED: Final = {Role.SERVER: "--suite {}", Role.CLIENT: "--client"}
SERVER_SUITES: Final = tuple(name for name, shipped in SHIPPED.items() if shipped.role is Role.SERVER)


def server_suite(name: str, scenarios: Sequence[str] = ()) -> Suite:
    """The suite of that name. Without a name, the first that has every scenario, else the protocol suite.

    Raises:
        InvalidOptions: the suite is unknown, judges clients, or lacks a scenario.
    """
    if not name:
        name = next(
            (known for known in SERVER_SUITES if not _unknown(scenarios, suite_named(known))), DEFAULT
        )
    suite = any_suite(name)
    if suite.role is not Role.SERVER:
        raise InvalidOptions(f"the suite {name} does not judge servers", "`assay check --client` runs it")
    check_scenarios(scenarios, suite)
    return suite


def any_suite(name: str) -> Suite:
    """
    Raises:
        InvalidOptions: the suite is unknown, or cannot be loaded.
    """
    if name in SHIPPED:
        return suite_named(name)
    with _usable_packages():
        names = suite_names()
        if name in names:
            return suite_named(name)
    raise InvalidOptions(f"no such suite: {name}", f"one of {', '.join(names)}")


def all_suites() -> list[Suite]:
    """The built-in suites and those of installed packages.

    Raises:
        InvalidOptions: one cannot be loaded.
    """
    with _usable_packages():
        return list(every_suite())


@contextmanager
def _usable_packages() -> Iterator[None]:
    try:
        yield
    except BadSuite as error:
        raise InvalidOptions(str(error), "repair that package, or uninstall it") from error


def client_suite(group: str, scenarios: Sequence[str] = ()) -> Suite:
    """The scenarios of a group of the client suite.

    Raises:
        InvalidOptions: the group is unknown, or lacks a scenario.
    """
    suite = suite_named(CLIENT)
    try:
        narrow = narrowed(suite, group)
    except KeyError:
        fix = f"one of {', '.join(groups(suite))}"
        raise InvalidOptions(f"no such suite: {group}", fix) from None
    check_scenarios(scenarios, narrow)
    return narrow


def check_scenarios(patterns: Sequence[str], suite: Suite, *, fixed: bool = False) -> None:
    """A misspelt name beside a correct one would otherwise be ignored. A `fixed` suite cannot be changed.

    Raises:
        InvalidOptions: a pattern matches no scenario of the suite.
    """
    unknown = _unknown(patterns, suite)
    if unknown:
        fix = _similar(unknown[0], suite) or ("" if fixed else _elsewhere(unknown, suite))
        fix = fix or f"`assay list {_LISTED[suite.role].format(suite.name)}` shows all"
        raise InvalidOptions(f"no such scenario: {', '.join(unknown)}", fix)


def _unknown(patterns: Iterable[str], suite: Suite) -> list[str]:
    scenarios = suite.scenarios.values()
    return [text for text in patterns if not any(is_named(scenario, text) for scenario in scenarios)]


def _elsewhere(unknown: list[str], suite: Suite) -> str:
    """The suite that has the scenarios, if there is one."""
    if suite.role is Role.SERVER and not _unknown(unknown, suite_named(CLIENT)):
        return "it judges clients: use `assay check --client`"
    names = () if suite.role is Role.CLIENT else SERVER_SUITES
    home = next((name for name in names if not _unknown(unknown, suite_named(name))), "")
    return f"the suite {home} has it: add --suite {home}" if home else ""


def _similar(name: str, suite: Suite) -> str:
    known = {id for scenario in suite.scenarios.values() for id in (scenario.id, dashed(scenario.id))}
    alike = get_close_matches(name, known, n=1, cutoff=0.7)
    return f"did you mean {alike[0]}?" if alike else ""


def selection_of(options: RunOptions, *, effects: bool = False, load: bool = False) -> Selection:
    """
    Raises:
        InvalidOptions: a revision is not known.
    """
    return Selection(
        scenarios=options.scenario,
        skipped=options.skip,
        revisions=revisions_of(options.spec_version),
        effects=effects,
        load=load,
        first=options.first,
    )


def server_selection(options: JudgeOptions) -> Selection:
    """
    Raises:
        InvalidOptions: a revision is not known.
    """
    effects = options.allow_effects or options.allow_destructive
    selection = selection_of(options, effects=effects, load=options.allow_load)
    return msgspec.structs.replace(selection, destructive=options.allow_destructive)


def revisions_of(dates: Iterable[str]) -> tuple[Revision, ...]:
    """
    Raises:
        InvalidOptions: a revision is not known.
    """
    return tuple(revision_of(date) for date in dict.fromkeys(dates))


def revision_of(date: str) -> Revision:
    """
    Raises:
        InvalidOptions: the revision is unknown.
    """
    if date not in BY_DATE:
        raise InvalidOptions(f"unknown revision: {date}", f"one of {', '.join(BY_DATE)}")
    return BY_DATE[date]
