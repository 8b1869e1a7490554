"""Temporary folders and a span receiver for a server, as its command asks for them.

For example: `reference --profile intelgraph --root {folder} --ledger {ledger} --telemetry {otlp}`.
"""

from __future__ import annotations

import shlex
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from assay.lab.harness.subject.disk import Directories
from assay.lab.harness.subject.out_of_band import OutOfBand

if TYPE_CHECKING:
    from assay.lab.harness.subject.otlp import Receiver

FOLDER: Final = "{folder}"
LEDGER: Final = "{ledger}"
"""A folder that the lab does not observe: writing a ledger is not an effect of a tool."""
RECEIVER: Final = "{otlp}"


class Environment:
    """Replaces the placeholders in the name and the options of a server."""

    def __init__(self, template: str) -> None:
        self._template = template
        self._stack = AsyncExitStack()
        self._folders: dict[str, Path] = {}
        self._receiver: Receiver | None = None

    async def __aenter__(self) -> Environment:
        for placeholder in (FOLDER, LEDGER):
            if placeholder in self._template:
                folder = self._stack.enter_context(TemporaryDirectory(prefix="assay-testbed-"))
                self._folders[placeholder] = Path(folder)
        if RECEIVER in self._template:
            from assay.lab.harness.subject.otlp import (
                Receiver,  # imported here because only spans need its dependencies
            )

            self._receiver = await self._stack.enter_async_context(Receiver())
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()

    @property
    def words(self) -> tuple[str, ...]:
        """The server's name and its options."""
        endpoint = "" if self._receiver is None else self._receiver.endpoint
        values = {**{word: str(path) for word, path in self._folders.items()}, RECEIVER: endpoint}
        return tuple(values.get(word, word) for word in shlex.split(self._template))

    @property
    def surroundings(self) -> OutOfBand:
        folder = self._folders.get(FOLDER)
        disk = None if folder is None else Directories((folder,))
        return OutOfBand(disk=disk, spans=self._receiver)
