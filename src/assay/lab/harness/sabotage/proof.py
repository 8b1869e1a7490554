"""The proof that checks can fail: every saboteur is let loose, and it is counted who was caught."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from assay.lab.harness.catalogue import Suite

from .client_saboteur import ClientSaboteur
from .client_trial import guest_trials, hold_guest_trial
from .fault import Fault
from .saboteur import Saboteur
from .testbed import Testbed
from .trial import F, Judged, Trial, hold_trial, trials

SERVERS_AT_ONCE: Final = 24
"""Before servers, most of the time is waiting for what does not come."""
CLIENTS_AT_ONCE: Final = 8


class Rate(Struct, frozen=True):
    """How many of an area's trials ended with the right finding."""

    area: str
    saboteurs: int
    trials: int
    caught: int

    def __str__(self) -> str:
        share = self.caught / self.trials if self.trials else 0.0
        told = f"{self.saboteurs:>4} saboteurs, {self.caught} of {self.trials} trials caught"
        return f"{self.area:<14}{told}: {share:.0%}"


def rates(judged: Sequence[Judged]) -> Iterator[Rate]:
    """By area, in their order."""
    for area in sorted({one.trial.saboteur.area for one in judged}):
        yield _rate(area, [one for one in judged if one.trial.saboteur.area == area])


def total(judged: Sequence[Judged]) -> Rate:
    return _rate("all", judged)


def _rate(area: str, judged: Sequence[Judged]) -> Rate:
    faults = {one.trial.saboteur.id for one in judged}
    return Rate(area, len(faults), len(judged), sum(bool(one.by) for one in judged))


def got_away(judged: Iterable[Judged]) -> Iterator[str]:
    """Every trial without the right finding, with what was found instead."""
    for one in judged:
        if not one.by:
            saboteur, instead = one.trial.saboteur, ", ".join(one.instead) or "nothing"
            yield (
                f"{one.trial} ({saboteur.fault}), which breaks {saboteur.breaks}, got away; "
                f"found instead: {instead}"
            )


async def try_all(faults: Sequence[Fault], suite: Suite) -> list[Judged]:
    """Every trial of these saboteurs: servers each before the healthy server and the double that it names,
    clients each before the healthy host."""
    servers = [one for one in faults if isinstance(one, Saboteur)]
    judged = await _try_clients([one for one in faults if isinstance(one, ClientSaboteur)], suite)
    for (server, _), here in sorted(_by_ground(servers, suite).items()):
        async with Testbed(server, here[0].double) as ground:
            judged += await _try(ground, here, suite)
    return judged


async def _try_clients(saboteurs: Sequence[ClientSaboteur], suite: Suite) -> list[Judged]:
    gate = asyncio.Semaphore(CLIENTS_AT_ONCE)

    async def hold(trial: Trial[ClientSaboteur]) -> Judged:
        async with gate:
            return await hold_guest_trial(trial, suite)

    every = _met({one.id: list(guest_trials(one, suite)) for one in saboteurs})
    return list(await asyncio.gather(*(hold(trial) for trial in every)))


def _met(planned: Mapping[str, list[Trial[F]]]) -> list[Trial[F]]:
    """Every trial; a saboteur without one would prove nothing."""
    idle = [name for name, found in planned.items() if not found]
    assert not idle, f"saboteurs that no scenario meets: {', '.join(idle)}"
    return [trial for found in planned.values() for trial in found]


def _by_ground(saboteurs: Sequence[Saboteur], suite: Suite) -> dict[tuple[str, str], list[Saboteur]]:
    """By server, and by the name of the double; those without one under none."""
    grounds: dict[tuple[str, str], list[Saboteur]] = {}
    for one in saboteurs:
        name = "" if one.double is None else one.double.name
        grounds.setdefault((one.server or suite.server, name), []).append(one)
    return grounds


async def _try(ground: Testbed, saboteurs: Sequence[Saboteur], suite: Suite) -> list[Judged]:
    gate = asyncio.Semaphore(SERVERS_AT_ONCE)

    async def hold(trial: Trial[Saboteur]) -> Judged:
        async with gate:
            return await hold_trial(trial, suite, ground, ground.conditions)

    every = _met({one.id: list(trials(one, suite, ground)) for one in saboteurs})
    judged = await asyncio.gather(*(hold(trial) for trial in every if not _is_delicate(trial)))
    return judged + [await hold(trial) for trial in every if _is_delicate(trial)]


def _is_delicate(trial: Trial[Saboteur]) -> bool:
    """A change of the shared server that is not announced is only seen where nobody else changes it, too."""
    return trial.saboteur.silent and any(one.effects for one in trial.scenarios)
