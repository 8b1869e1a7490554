"""How scenarios and checks of the official suite are declared: under their official names.

An official check id is a requirement in `requirements/<area>.toml`, whose levels say where it is in force and
whether breaking it fails or warns. A scenario runs at the revisions of its requirements, and the check of the
same name judges all of them.
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
    exclusive: bool = False,
) -> Callable[[Drive], Scenario]:
    """Turn a function into the scenario of that name, which exercises the check of that name."""

    def decorate(drive: Drive) -> Scenario:
        area = area_of_module(drive.__module__)
        return Scenario(
            name,
            title,
            (name,),
            drive,
            needs,
            transports,
            official=name,
            area=area,
            aliases=aliases,
            exclusive=exclusive,
        )

    return decorate


def official_check(
    name: str,
    title: str,
    *,
    requirements: Mapping[str, str] | tuple[str, ...] = (),
    transports: frozenset[Transport] = ANY,
    everywhere: bool = False,
) -> Callable[[Judge], Check]:
    """Turn a function into the check of that name, with one result per requirement.

    Its only requirement has the same name, unless others are given.
    """
    cited = faults(requirements or (name,))
    return lambda judge: Check(name, title, cited, judge, everywhere, transports, by_requirement=True)
