"""The scripted client as a subject that runs in the lab's own process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from assay.lab.harness.scripted_server.client import ClientExit, ClientSetup, CommandClient
from assay.lab.harness.transport import Transport

from .client import ScriptedClient
from .failure import StepFailed

if TYPE_CHECKING:
    from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur


class InProcessClient:
    def __init__(
        self,
        saboteur: ClientSaboteur | None = None,
        transport: Transport = Transport.HTTP,
        *,
        patience: float | None = None,
    ) -> None:
        self.name = "the scripted client" if saboteur is None else f"saboteur {saboteur.id}"
        self.transport = transport
        self._saboteur = saboteur
        self._behaviour = {} if patience is None else {"patience": patience}

    async def run(self, setup: ClientSetup, limit: float) -> ClientExit:
        if self._saboteur is not None and self._saboteur.command:
            return await CommandClient(self._saboteur.command, self.transport).run(setup, limit)
        client = ScriptedClient(setup, self.transport, self._saboteur, self._behaviour)
        running = asyncio.create_task(client.run())
        try:
            done, _ = await asyncio.wait({running}, timeout=limit)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        if not done:
            return ClientExit(None, stderr=_text(client.log), stopped=True)
        try:
            running.result()
        except (StepFailed, TimeoutError) as reason:
            return ClientExit(1, stderr=_text([*client.log, str(reason)]))
        return ClientExit(0, stderr=_text(client.log))


def _text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
