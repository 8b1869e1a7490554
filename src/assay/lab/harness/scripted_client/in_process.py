"""The scripted client as a subject that runs in the lab's own process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from assay.lab.harness.scripted_server.client import CommandClient, Ended, Invitation
from assay.lab.harness.transport import Transport

from .client import ScriptedClient
from .failure import Failed

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
        self._habits = {} if patience is None else {"patience": patience}

    async def run(self, invitation: Invitation, limit: float) -> Ended:
        if self._saboteur is not None and self._saboteur.command:
            return await CommandClient(self._saboteur.command, self.transport).run(invitation, limit)
        client = ScriptedClient(invitation, self.transport, self._saboteur, self._habits)
        running = asyncio.create_task(client.run())
        try:
            done, _ = await asyncio.wait({running}, timeout=limit)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        if not done:
            return Ended(None, stderr=_text(client.log), stopped=True)
        try:
            running.result()
        except (Failed, TimeoutError) as reason:
            return Ended(1, stderr=_text([*client.log, str(reason)]))
        return Ended(0, stderr=_text(client.log))


def _text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
