"""The proof that checks can fail: runs every saboteur and counts those that were caught."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.revisions.registry import REVISIONS

from .client_saboteur import ClientSaboteur
from .client_trial import client_trials, run_client_trial
from .fault import Fault
from .repetition import Repeated, is_repeatable, repeat_lines
from .saboteur import Saboteur
from .testbed import Testbed
from .trial import F, Trial, TrialResult, run_trial, server_trials

SERVERS_AT_ONCE: Final = 24
"""Trials of servers mostly wait for timeouts, so many can run at once."""
CLIENTS_AT_ONCE: Final = 8


class Rate(Struct, frozen=True):
    """The number of saboteurs and trials of an area, and of trials that were caught."""

    area: str
    saboteurs: int
    trials: int
    caught: int

    def __str__(self) -> str:
        share = self.caught / self.trials if self.trials else 0.0
        counts = f"{self.saboteurs:>4} saboteurs, {self.caught} of {self.trials} trials caught"
        return f"{self.area:<14}{counts}: {share:.0%}"


def rates(results: Sequence[TrialResult]) -> Iterator[Rate]:
    """The rate of each area, in alphabetical order."""
    for area in sorted({result.trial.saboteur.area for result in results}):
        yield _rate(area, [result for result in results if result.trial.saboteur.area == area])


def total(results: Sequence[TrialResult]) -> Rate:
    return _rate("all", results)


def _rate(area: str, results: Sequence[TrialResult]) -> Rate:
    saboteurs = {result.trial.saboteur.id for result in results}
    return Rate(area, len(saboteurs), len(results), sum(bool(result.caught_by) for result in results))


def missed(results: Iterable[TrialResult]) -> Iterator[str]:
    """A line for each trial whose saboteur was not caught, with the other findings."""
    for result in results:
        if not result.caught_by:
            saboteur, others = result.trial.saboteur, ", ".join(result.others) or "nothing"
            yield (
                f"{result.trial} ({saboteur.fault}), which breaks {saboteur.breaks}, was not caught; "
                f"found instead: {others}"
            )


def idle(results: Iterable[TrialResult], suite: Suite) -> Iterator[str]:
    """A line for each result of a check that caught nothing, although all saboteurs of the suite ran."""
    catching = {name for result in results for name in result.caught_by}
    every = dict.fromkeys(name for check in suite.checks.values() for name in check.results)
    return (f"{name}: no saboteur shows that it can fail" for name in every if name not in catching)


async def run_trials(saboteurs: Sequence[Fault], suite: Suite, *, quick: bool = False) -> list[TrialResult]:
    """Run the trials of these saboteurs, those of servers grouped by the testbed that they need.

    With `quick`, each saboteur runs once: on one transport, at the newest of its revisions.
    """
    servers = [saboteur for saboteur in saboteurs if isinstance(saboteur, Saboteur)]
    clients = [saboteur for saboteur in saboteurs if isinstance(saboteur, ClientSaboteur)]
    results = await _run_client_trials(clients, suite, quick)
    for (server, _), group in sorted(_by_testbed(servers, suite).items()):
        async with Testbed(server, group[0].double) as testbed:
            results += await _run_server_trials(testbed, group, suite, quick)
    return results


async def run_lines(saboteurs: Sequence[Fault], suite: Suite) -> list[Repeated]:
    """Run the lines of the findings that catch these saboteurs of servers."""
    servers = [saboteur for saboteur in saboteurs if isinstance(saboteur, Saboteur)]
    results: list[Repeated] = []
    for (server, _), group in sorted(_by_testbed(servers, suite).items()):
        if any(map(is_repeatable, group)):
            async with Testbed(server, group[0].double) as testbed:
                results += await repeat_lines(group, suite, testbed)
    return results


def _newest(trials: Iterable[Trial[F]]) -> Trial[F]:
    return max(trials, key=lambda trial: REVISIONS.index(trial.revision))


async def _run_client_trials(
    saboteurs: Sequence[ClientSaboteur], suite: Suite, quick: bool
) -> list[TrialResult]:
    limit = asyncio.Semaphore(CLIENTS_AT_ONCE)

    async def run(trial: Trial[ClientSaboteur]) -> TrialResult:
        async with limit:
            return await run_client_trial(trial, suite)

    trials = _flat({saboteur.id: list(client_trials(saboteur, suite)) for saboteur in saboteurs}, quick)
    return list(await asyncio.gather(*map(run, trials)))


def _flat(planned: Mapping[str, list[Trial[F]]], quick: bool) -> list[Trial[F]]:
    idle = [name for name, trials in planned.items() if not trials]
    assert not idle, f"no scenario runs these saboteurs: {', '.join(idle)}"
    return [trial for trials in planned.values() for trial in ([_newest(trials)] if quick else trials)]


def _by_testbed(saboteurs: Sequence[Saboteur], suite: Suite) -> dict[tuple[str, str], list[Saboteur]]:
    """By server and name of the double, which is empty for saboteurs without one."""
    groups: dict[tuple[str, str], list[Saboteur]] = {}
    for saboteur in saboteurs:
        double = "" if saboteur.double is None else saboteur.double.name
        groups.setdefault((saboteur.server or suite.server, double), []).append(saboteur)
    return groups


async def _run_server_trials(
    testbed: Testbed, saboteurs: Sequence[Saboteur], suite: Suite, quick: bool
) -> list[TrialResult]:
    limit = asyncio.Semaphore(SERVERS_AT_ONCE)

    async def run(trial: Trial[Saboteur]) -> TrialResult:
        async with limit:
            return await run_trial(trial, suite, testbed, testbed.conditions)

    planned = {saboteur.id: list(server_trials(saboteur, suite, testbed)) for saboteur in saboteurs}
    trials = _flat(planned, quick)
    results: list[TrialResult] = []
    for together in _without_interference(trials):
        results += await asyncio.gather(*map(run, together))
    return results


def _without_interference(trials: Sequence[Trial[Saboteur]]) -> Iterator[list[Trial[Saboteur]]]:
    """Groups of trials that can share a server at the same time."""
    changing = [trial for trial in trials if any(scenario.effects for scenario in trial.scenarios)]
    # A missing announcement of a change is only noticed while no other trial changes the server, and times
    # are only measured while nothing else runs.
    alone = [trial for trial in changing if trial.saboteur.silent]
    alone += [trial for trial in trials if any(scenario.load for scenario in trial.scenarios)]
    # Lists are only compared while no trial changes them.
    yield [trial for trial in trials if trial not in changing and trial not in alone]
    yield [trial for trial in changing if trial not in alone]
    yield from ([trial] for trial in alone)
