"""How scenarios and checks of the official suite are declared: under their official names.

An official check id is a row of `requirements/<area>.toml`, with the levels that say where it is in force and
whether breaking it fails or warns. So the window of a scenario is that of its rows. One scenario has one
check module of the same name, which judges all its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.lab.harness.check import Check, Judge, faults
from assay.lab.harness.naming import area_of_module
from assay.lab.harness.need import Need
from assay.lab.harness.scenario import Drive, Scenario
from assay.lab.harness.transport import ANY, Transport


def official_scenario(
    name: str,
    title: str,
    *,
    needs: tuple[Need, ...] = (),
    transports: frozenset[Transport] = ANY,
    aliases: tuple[str, ...] = (),
) -> Callable[[Drive], Scenario]:
    """Make a scenario of a function, under its official name; it exercises the check of that name."""

    def made(drive: Drive) -> Scenario:
        return Scenario(
            name,
            title,
            (name,),
            drive,
            needs,
            transports,
            official=name,
            area=area_of_module(drive.__module__),
            aliases=aliases,
        )

    return made


def official_check(
    name: str,
    title: str,
    *,
    requirements: Mapping[str, str] | tuple[str, ...],
    transports: frozenset[Transport] = ANY,
    everywhere: bool = False,
) -> Callable[[Judge], Check]:
    """Make the checks of the scenario of that name; each row is one, under its official id."""

    def made(judge: Judge) -> Check:
        return Check(name, title, faults(requirements), judge, everywhere, transports, by_requirement=True)

    return made
