"""A trial of many saboteurs at once, and what it says about them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.playing import Conditions
from assay.lab.harness.sabotage.ground import Ground
from assay.lab.harness.sabotage.subject import HEALTHY, HttpSseSaboteur
from assay.lab.harness.sabotage.trial import Judged, Trial, hold_trial, trials
from assay.lab.harness.saboteur import Saboteur
from assay.lab.harness.subject import Subject, UrlSubject, served
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS

AT_ONCE = 8


def healthy(server: str, transport: Transport) -> Subject:
    """A bundled server on any transport; HTTP+SSE, which they do not speak, is put before them."""
    return OverTwoEndpoints(server) if transport is Transport.HTTP_SSE else served(server, transport)


class OverTwoEndpoints(UrlSubject):
    """A bundled server, reached over HTTP+SSE, without a fault."""

    def __init__(self, server: str) -> None:
        super().__init__(server, transport=Transport.HTTP_SSE)
        self._behind = served(server, Transport.WEBSOCKET)
        self._front: HttpSseSaboteur | None = None

    async def start(self) -> None:
        await self._behind.start()
        self._front = HttpSseSaboteur(HEALTHY, self._behind.name, REVISIONS[0])
        await self._front.start()
        self.name = self._front.name

    async def stop(self) -> None:
        if self._front is not None:
            await self._front.stop()
        await self._behind.stop()


async def try_all(saboteurs: Sequence[Saboteur], suite: Suite) -> list[Judged]:
    """Every trial of these saboteurs, each before the healthy server that it names."""
    judged: list[Judged] = []
    for server in sorted({one.server for one in saboteurs}):
        async with Ground(server) as ground:
            judged += await _try(ground, [one for one in saboteurs if one.server == server], suite)
    return judged


async def _try(ground: Ground, saboteurs: Sequence[Saboteur], suite: Suite) -> list[Judged]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def hold(trial: Trial) -> Judged:
        async with gate:
            return await hold_trial(trial, suite, ground, Conditions())

    planned = {one.id: list(trials(one, suite, ground)) for one in saboteurs}
    idle = [name for name, found in planned.items() if not found]
    assert not idle, f"saboteurs that no scenario meets: {', '.join(idle)}"
    every = [trial for found in planned.values() for trial in found]
    judged = await asyncio.gather(*(hold(trial) for trial in every if not _is_delicate(trial)))
    return judged + [await hold(trial) for trial in every if _is_delicate(trial)]


def _is_delicate(trial: Trial) -> bool:
    """A change of the shared server that is not announced is only seen where nobody else changes it, too."""
    return trial.saboteur.silent and any(one.effects for one in trial.scenarios)


def got_away(judged: Sequence[Judged]) -> list[str]:
    """Every trial without the right finding, with what was found instead."""
    return [
        f"{one.trial} ({one.trial.saboteur.fault}), which breaks {one.trial.saboteur.breaks}, got away; "
        f"found instead: {', '.join(one.instead) or 'nothing'}"
        for one in judged
        if not one.by
    ]
