"""Clients that start at once are few; how many are at work is another matter."""

import asyncio

from assay.lab.harness.run.event import RunEvent
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.scripted_server.client import Ended, Invitation
from assay.lab.harness.scripted_server.client_run import ClientRun
from assay.lab.harness.scripted_server.runner import STARTING, ClientOrder, ClientRunner
from assay.lab.harness.transport import Transport
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE

MANY = 4 * STARTING


class Visitor:
    """Says a word, and stays until all have come."""

    name = "a visitor"
    transport = Transport.HTTP

    def __init__(self) -> None:
        self.silent = 0
        self.most_silent = 0
        self.there = 0
        self.all_there = asyncio.Event()

    async def run(self, invitation: Invitation, limit: float) -> Ended:
        self.silent += 1
        self.most_silent = max(self.most_silent, self.silent)
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", int(invitation.url.split(":")[2].split("/")[0])
        )
        writer.write(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.silent -= 1
        await reader.readuntil(b"\r\n\r\n")
        self.there += 1
        if self.there == MANY:
            self.all_there.set()
        await self.all_there.wait()
        writer.close()
        return Ended(0)


def watch(event: RunEvent) -> None: ...


def keep(visited: ClientRun) -> CellResult:
    return visited.result


async def test_few_clients_start_at_once_and_all_may_be_at_work() -> None:
    visitor = Visitor()
    selection = Selection(scenarios=("tools_call",), revisions=(HANDSHAKE[-1],))
    order = ClientOrder(suite_named("client"), selection, jobs=MANY, repeat=MANY)
    run = await ClientRunner(order, [visitor], watch, keep).run()
    assert len(run.cells) == MANY == visitor.there
    assert visitor.most_silent <= STARTING


async def test_a_client_that_is_never_heard_keeps_nobody_from_starting() -> None:
    class Mute(Visitor):
        async def run(self, invitation: Invitation, limit: float) -> Ended:
            return Ended(0)

    selection = Selection(scenarios=("tools_call",), revisions=(HANDSHAKE[-1],))
    order = ClientOrder(suite_named("client"), selection, jobs=MANY, repeat=MANY)
    run = await ClientRunner(order, [Mute()], watch, keep).run()
    assert len(run.cells) == MANY
