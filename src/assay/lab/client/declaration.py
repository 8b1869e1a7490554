"""Decorators for client scenarios."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from assay.lab.harness.naming import area_of, area_of_module, id_of
from assay.lab.harness.requirement import Requirement, read_requirements
from assay.lab.harness.scenario import Drive, Role, Scenario, Window
from assay.lab.harness.scripted_server.client_script import ClientScript
from assay.lab.harness.transport import HTTP_ONLY, Transport

CLIENTS: Final = frozenset({Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET})
"""The transports on which the lab judges clients."""


@cache
def _requirements() -> dict[str, Requirement]:
    return read_requirements(Path(__file__).with_name("requirements"))


def requirement(name: str) -> Requirement:
    return _requirements()[name]


def in_force(name: str) -> Window:
    """The revisions in which a requirement is in force."""
    return lambda revision: requirement(name).level(revision) is not None


def official_scenario(
    name: str,
    title: str,
    *,
    script: ClientScript,
    exercises: tuple[str, ...] = (),
    transports: frozenset[Transport] = HTTP_ONLY,
    window: Window = lambda revision: True,
    aliases: tuple[str, ...] = (),
) -> Callable[[Drive], Scenario]:
    """Turn a function that sets up the server into the scenario of the official suite with this name.

    It exercises the check of that name and those in `exercises`. Its revisions are those of its requirements,
    within `window`.
    """

    def decorate(drive: Drive) -> Scenario:
        return Scenario(
            name,
            title,
            (name, *exercises),
            drive,
            transports=transports,
            window=window,
            official=name,
            role=Role.CLIENT,
            area=area_of_module(drive.__module__),
            aliases=aliases,
            script=script,
        )

    return decorate


def client_scenario(
    title: str,
    *,
    script: ClientScript,
    exercises: tuple[str, ...],
    transports: frozenset[Transport] = CLIENTS,
    window: Window = lambda revision: True,
    aliases: tuple[str, ...] = (),
    also: tuple[str, ...] | None = None,
    id: str = "",
) -> Callable[[Drive], Scenario]:
    """Turn a function `drive_<name>` that sets up the server into a scenario.

    Any function becomes the scenario with that id, if `id` is given.
    """

    def decorate(drive: Drive) -> Scenario:
        name = id or id_of(drive, "drive_")
        return Scenario(
            name,
            title,
            exercises,
            drive,
            transports=transports,
            window=window,
            role=Role.CLIENT,
            area=area_of(name),
            aliases=aliases,
            script=script,
            also=also,
        )

    return decorate
