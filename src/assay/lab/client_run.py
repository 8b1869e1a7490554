"""Judge a client: `judge_client` waits for the run, `follow_client` shows it as it goes."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec

from assay.lab.harness.run.archive import Archive, Output
from assay.lab.harness.run.event import Watch
from assay.lab.harness.run.plan import Cell, Selection
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.scripted_server.client import (
    ATTACHED,
    SERVER,
    URL,
    Client,
    ClientExit,
    ClientSetup,
    CommandClient,
)
from assay.lab.harness.scripted_server.client_run import ClientRun
from assay.lab.harness.scripted_server.runner import ClientOrder, ClientRunner, planned
from assay.lab.harness.transport import Transport

from .error import InvalidOptions, LabError, SubjectNotStarted
from .extra import require_tokens
from .live_run import LiveRun, deadline_of
from .options import ClientOptions
from .selection import client_suite, selection_of
from .target import parse_command

DEFAULTS: Final = ClientOptions()
OPEN_HOUSE: Final = "core.open-house"
"""What a client that is operated by hand meets, unless the options name another scenario."""
TIMEOUT: Final = 30.0
BY_HAND: Final = 600.0
"""Seconds for one scenario: of a program, and of a person."""

Invite = Callable[[ClientSetup, float], Awaitable[None]]
"""Shows a person the address and the steps, and returns when they are done. The second argument is the time
limit in seconds."""


async def judge_client(client: str | Sequence[str] | Invite, options: ClientOptions = DEFAULTS) -> Run:
    """Judge a client, given by the command that starts it, and return the run.

    Raises:
        LabError: nothing was judged; the subclass says why.
        MissingExtra: a library of the lab is not installed.
    """
    return await follow_client(client, options).wait()


def follow_client(client: str | Sequence[str] | Invite, options: ClientOptions = DEFAULTS) -> LiveRun:
    """Judge a client, and follow the events of the run. A function instead of a command starts nothing: it is
    called with the address of the server, and returns when the client is done.

    Raises:
        InvalidOptions: the options cannot be used. Nothing has been started then.
        MissingExtra: a library of the lab is not installed.
    """
    require_tokens()
    return LiveRun(ClientConduct(client, options), options)


class AttachedClient:
    """A client that somebody else starts."""

    name = ATTACHED

    def __init__(self, transport: Transport, invite: Invite) -> None:
        self.transport = transport
        self._invite = invite

    async def run(self, setup: ClientSetup, limit: float) -> ClientExit:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit):
                await self._invite(setup, limit)
        return ClientExit(None)


class ClientConduct:
    restarts = True

    def __init__(self, client: str | Sequence[str] | Invite, options: ClientOptions) -> None:
        """
        Raises:
            InvalidOptions: the options cannot be used, or select nothing.
        """
        self._client = _client(client, options.transport)
        self._order = self._planned(options, by_hand=callable(client))
        self.suite = self._order.suite
        self.selection = self._order.selection

    def _planned(self, options: ClientOptions, *, by_hand: bool) -> ClientOrder:
        selection = selection_of(options)
        if by_hand and not selection.scenarios:
            selection = msgspec.structs.replace(selection, scenarios=(OPEN_HOUSE,))
        limit = options.timeout or (BY_HAND if by_hand else TIMEOUT)
        order = ClientOrder(
            client_suite(options.suite, (*options.scenario, *options.skip)),
            selection,
            limit=limit,
            fixed_limit=options.timeout is not None,
            deadline=deadline_of(options, limit),
            jobs=options.jobs or os.cpu_count() or 1,
            repeat=options.repeat,
            strict=options.strict,
            once=options.once,
            probes=not by_hand,
        )
        cells = planned(order, [self._client.transport])
        if not cells:
            raise _nothing_selected(self._client.transport, selection)
        return _single(order, cells) if by_hand else order

    async def run(self, watch: Watch, archive: Archive | None) -> Run:
        def keep(finished: ClientRun) -> CellResult:
            if archive is None:
                return finished.result
            archive.add_output(finished.result, Output(finished.exit.stdout, finished.exit.stderr))
            return archive.store(finished.result, finished.trace)

        return await ClientRunner(self._order, [self._client], watch, keep).run()

    def not_there(self, down: SubjectDown) -> LabError:
        fix = "is the command right, and is everything installed that the client needs? try it by hand"
        return SubjectNotStarted(str(down), fix)


def _client(client: str | Sequence[str] | Invite, transport: str | None) -> Client:
    if callable(client):
        return AttachedClient(_transport(transport) or Transport.HTTP, client)
    words = parse_command(client) if isinstance(client, str) else tuple(client)
    starts_server = any(SERVER in word for word in words)
    if starts_server and any(URL in word for word in words):
        problem = f"the command has both {URL} and {SERVER}"
        raise InvalidOptions(problem, "a client is judged on one transport at a time")
    chosen = _transport(transport) or (Transport.STDIO if starts_server else Transport.HTTP)
    if starts_server is not (chosen is Transport.STDIO):
        problem = f"on {chosen} the command {'has no place for' if starts_server else 'needs'} {SERVER}"
        fix = f"{SERVER} becomes the command of a stdio server; a URL goes to {URL}, or to the end"
        raise InvalidOptions(problem, fix)
    return CommandClient(words, chosen)


def _transport(name: str | None) -> Transport | None:
    known = (Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET)
    if name is not None and name not in known:
        raise InvalidOptions(f"clients are not judged on {name}", f"one of {', '.join(known)}")
    return None if name is None else Transport(name)


def _nothing_selected(transport: Transport, selection: Selection) -> InvalidOptions:
    dates = ", ".join(revision.date for revision in selection.revisions)
    problem = f"none of these scenarios runs on {transport}" + (f" at {dates}" if dates else "")
    return InvalidOptions(problem, "`assay list --client` shows where each scenario runs")


def _single(order: ClientOrder, cells: list[Cell]) -> ClientOrder:
    """A person operates the client once: one scenario, at the first revision unless the options name one."""
    if not order.selection.revisions:
        cells = [cell for cell in cells if cell.revision is cells[0].revision]
        selection = msgspec.structs.replace(order.selection, revisions=(cells[0].revision,))
        order = msgspec.structs.replace(order, selection=selection)
    if len(cells) > 1:
        places = ", ".join(f"{cell.scenario.id} at {cell.revision}" for cell in cells[:3])
        problem = f"--attach is for one scenario at one revision, and this is {len(cells)}: {places} …"
        raise InvalidOptions(problem, "choose with --scenario and --spec-version")
    return order
