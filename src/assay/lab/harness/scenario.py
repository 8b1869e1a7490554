"""Scenarios: short conversations that make a subject show the behaviour that checks judge.

    @scenario("A tool that does not exist", needs=(declares("tools"),))
    async def drive_unknown_name(stage: Stage) -> None:
        peer = await stage.open()
        await peer.request("tools/call", {"name": "no-such-tool", "arguments": {}})

They come first in the topic modules of a suite. A scenario runs on every transport and revision that it does
not exclude, and judges nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any

from msgspec import Struct

from assay.lab.harness.scripted_server.client_script import ClientScript
from assay.revisions.revision import Revision

from .naming import area_of, id_of
from .need import Need
from .transport import ANY, Transport

Drive = Callable[[Any], Awaitable[None]]
"""Takes the stage of a server, or the scripted server of a client."""
Window = Callable[[Revision], bool]


class Role(Enum):
    """Role of the subject."""

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
    """Whether it may have side effects; then it only runs with `--allow-effects`."""
    official: str | None = None
    """Its name in the official suite."""
    role: Role = Role.SERVER
    area: str = ""
    aliases: tuple[str, ...] = ()
    """Other names for selection."""
    script: ClientScript | None = None
    """The task of a client."""
    also: tuple[str, ...] | None = None
    """Further checks that read its trace; None for all that read every trace. For scenarios whose
    conversation is not of the judged revision, or that end the server."""
    exclusive: bool = False
    """Whether it changes state that other scenarios of the same server observe; then it runs alone, as those
    with `effects` do."""
    load: bool = False
    """Whether it puts load on the server; then it runs alone, and only with `--allow-load`."""


def scenario(
    title: str,
    *,
    exercises: tuple[str, ...] = (),
    needs: tuple[Need, ...] = (),
    transports: frozenset[Transport] = ANY,
    window: Window = lambda revision: True,
    effects: bool = False,
    load: bool = False,
    also: tuple[str, ...] | None = None,
    official: str | None = None,
    role: Role = Role.SERVER,
    id: str = "",
) -> Callable[[Drive], Scenario]:
    """Turn a function `drive_<name>` into a scenario; `window` selects its revisions.

    It exercises the check of the same name, unless others are given.
    """

    def decorate(drive: Drive) -> Scenario:
        name = id or id_of(drive, "drive_")
        return Scenario(
            name,
            title,
            exercises or (name,),
            drive,
            needs,
            transports,
            window,
            effects,
            official,
            role,
            area=area_of(name),
            also=also,
            load=load,
        )

    return decorate
