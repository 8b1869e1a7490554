"""Scenarios: short conversations that make a subject show what checks want to see.

    @scenario("A tool that does not exist", exercises=("tools.unknown-name",), needs=(declares("tools"),))
    async def drive_unknown_name(stage: Stage) -> None:
        peer = await stage.open()
        await peer.request("tools/call", {"name": "no-such-tool", "arguments": {}})

They stand first in the topic modules of a suite. The same scenario runs on every transport and revision that
it does not exclude. It judges nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any

from msgspec import Struct

from assay.lab.harness.scripted_server.brief import Brief
from assay.revisions.revision import Revision

from .naming import area_of, id_of
from .need import Need
from .transport import ANY, Transport

Drive = Callable[[Any], Awaitable[None]]
"""Is given a `Stage` to drive a server on, or a `Hosting` to set up for a client."""
Window = Callable[[Revision], bool]


class Role(Enum):
    """Which part the subject plays."""

    SERVER = "server"
    CLIENT = "client"


class Scenario(Struct, frozen=True):
    id: str
    title: str
    exercises: tuple[str, ...]
    drive: Drive
    needs: tuple[Need, ...] = ()
    transports: frozenset[Transport] = ANY
    window: Window = lambda revision: True
    effects: bool = False
    """It may change something in the subject's world: runs only with `--allow-effects`."""
    official: str | None = None
    """Its name in the official suite."""
    role: Role = Role.SERVER
    area: str = ""
    aliases: tuple[str, ...] = ()
    """Other names that it can be chosen by."""
    brief: Brief | None = None
    """What a client is asked to do."""
    also: tuple[str, ...] | None = None
    """The checks that read it besides; none for all that read every trace. To be told where the conversation
    is not of the revision that is judged."""


def scenario(
    title: str,
    *,
    exercises: tuple[str, ...],
    needs: tuple[Need, ...] = (),
    transports: frozenset[Transport] = ANY,
    window: Window = lambda revision: True,
    effects: bool = False,
    official: str | None = None,
    role: Role = Role.SERVER,
) -> Callable[[Drive], Scenario]:
    """Turn a function `drive_<name>` into a scenario; `window` says at which revisions it makes sense."""

    def made(drive: Drive) -> Scenario:
        name = id_of(drive, "drive_")
        return Scenario(
            name,
            title,
            exercises,
            drive,
            needs,
            transports,
            window,
            effects,
            official,
            role,
            area=area_of(name),
        )

    return made
