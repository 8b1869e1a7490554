"""The port for measurements: what a provider receives, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from assay.certify.options import CertifyOptions
from assay.lab.access import Credentials
from assay.lab.harness.run.run import Run
from assay.lab.harness.transport import Transport
from assay.lab.target import Served, Target

from .document import Measurement, NotMeasured

Words = tuple[str, ...]


class Preparation(Struct, frozen=True):
    """What is known before the server is judged."""

    targets: Sequence[Target]
    options: CertifyOptions
    scope: frozenset[str]


class MeasurementContext(Struct, frozen=True):
    """What is known after the server was judged."""

    targets: Sequence[Target]
    options: CertifyOptions
    scope: frozenset[str]
    """The transports that the server is certified for."""
    demands: frozenset[str]
    """Those of the provider that the profile has and that are within the scope."""
    credentials: Credentials
    run: Run
    """Its subjects hold the facts about the server: revisions, capabilities, tools."""
    commands: Mapping[Transport, Words]
    """How the lab starts the server, without `wrap`. A transport is missing where it does not."""
    environment: Mapping[str, str]
    """Variables for these commands."""
    wrap: Callable[[Words], Words]
    """The command in the sandbox, if there is one."""
    serve_options: Callable[[Served], Words]
    """The same on HTTP, where `assay serve` makes the sandbox."""
    scratch: Path
    """An empty directory, removed afterwards."""


class Provider:
    """Measures some demands of a profile. Each method but `measure` has a default."""

    demands: ClassVar[tuple[str, ...]] = ()

    async def prepare(self, preparation: Preparation) -> None:
        """Get ready before the server is judged.

        Raises:
            LabError: it cannot be measured as the options demand; nothing is judged then.
        """

    def wrap(self, words: Words, options: CertifyOptions) -> Words:
        """The command to start instead of this one, on stdio."""
        return words

    def serve_options(self, served: Served, options: CertifyOptions) -> Words:
        """Further options of `assay serve`, where it serves this target on HTTP."""
        return ()

    async def measure(self, context: MeasurementContext) -> Sequence[Measurement | NotMeasured]:
        """Measure the demands of the context.

        Raises:
            LabError: the certification must stop.
        """
        raise NotImplementedError

    def figures(self, demand: str, files: Mapping[str, bytes]) -> dict[str, float] | None:
        """The figures computed from the raw files again; None if they cannot be for this demand.

        Raises:
            ValueError: the files are not what was measured. KeyError, TypeError and msgspec's errors mean
                the same.
        """
        return None
