"""What a server needs around it to show all that it does: a folder to write to, one for its ledger,
somewhere to send spans.

The server that a suite names may ask for each: `reference --profile intelgraph --root {folder}`.
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
"""A folder that is not looked at: what a server writes down there is no effect of a tool."""
RECEIVER: Final = "{otlp}"


class Environment:
    """A server by name and options, with what these ask for."""

    def __init__(self, template: str) -> None:
        self._template = template
        self._stack = AsyncExitStack()
        self._folders: dict[str, Path] = {}
        self._receiver: Receiver | None = None

    async def __aenter__(self) -> Environment:
        for wanted in (FOLDER, LEDGER):
            if wanted in self._template:
                made = self._stack.enter_context(TemporaryDirectory(prefix="assay-ground-"))
                self._folders[wanted] = Path(made)
        if RECEIVER in self._template:
            from assay.lab.harness.subject.otlp import (
                Receiver,  # only who sees spans needs what reads them
            )

            self._receiver = await self._stack.enter_async_context(Receiver())
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()

    @property
    def words(self) -> tuple[str, ...]:
        """The server's name and its options."""
        endpoint = "" if self._receiver is None else self._receiver.endpoint
        given = {**{word: str(path) for word, path in self._folders.items()}, RECEIVER: endpoint}
        return tuple(given.get(word, word) for word in shlex.split(self._template))

    @property
    def surroundings(self) -> OutOfBand:
        folder = self._folders.get(FOLDER)
        disk = None if folder is None else Directories((folder,))
        return OutOfBand(disk=disk, spans=self._receiver)
