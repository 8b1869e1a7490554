"""The limit on clients that start at the same time, which is lower than that on clients that run."""

import asyncio

from assay.lab.harness.run.event import RunEvent
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.run import CellResult
from assay.lab.harness.scripted_server.client import ClientExit, ClientSetup
from assay.lab.harness.scripted_server.client_run import ClientRun
from assay.lab.harness.scripted_server.runner import STARTING, ClientOrder, ClientRunner
from assay.lab.harness.transport import Transport
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE

MANY = 4 * STARTING


class WaitingClient:
    """Sends a request, and stays until all clients have done so."""

    name = "a client"
    transport = Transport.HTTP

    def __init__(self) -> None:
        self.starting = 0
        self.most_starting = 0
        self.started = 0
        self.all_started = asyncio.Event()

    async def run(self, setup: ClientSetup, limit: float) -> ClientExit:
        self.starting += 1
        self.most_starting = max(self.most_starting, self.starting)
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", int(setup.url.split(":")[2].split("/")[0])
        )
        writer.write(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.starting -= 1
        await reader.readuntil(b"\r\n\r\n")
        self.started += 1
        if self.started == MANY:
            self.all_started.set()
        await self.all_started.wait()
        writer.close()
        return ClientExit(0)


def watch(event: RunEvent) -> None: ...


def store(run: ClientRun) -> CellResult:
    return run.result


async def test_few_clients_start_at_once_and_all_may_run() -> None:
    client = WaitingClient()
    selection = Selection(scenarios=("tools_call",), revisions=(HANDSHAKE[-1],))
    order = ClientOrder(suite_named("client"), selection, jobs=MANY, repeat=MANY)
    run = await ClientRunner(order, [client], watch, store).run()
    assert len(run.cells) == MANY == client.started
    assert client.most_starting <= STARTING


async def test_silent_client_does_not_block_the_others() -> None:
    class Mute(WaitingClient):
        async def run(self, setup: ClientSetup, limit: float) -> ClientExit:
            return ClientExit(0)

    selection = Selection(scenarios=("tools_call",), revisions=(HANDSHAKE[-1],))
    order = ClientOrder(suite_named("client"), selection, jobs=MANY, repeat=MANY)
    run = await ClientRunner(order, [Mute()], watch, store).run()
    assert len(run.cells) == MANY
