"""Run the providers of a profile's measurements, before and after the server is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec import Struct

from assay.certify.evidence import not_measured
from assay.certify.options import CertifyOptions
from assay.certify.profile_list import MeasuredBy, Profile
from assay.certify.providers import providers
from assay.certify.scoring import Evidence
from assay.lab.access import Credentials
from assay.lab.error import CannotJudge
from assay.lab.harness.run.run import Run
from assay.lab.harness.transport import Transport
from assay.lab.target import Served, Target
from assay.signing.keys import SigningKey

from .document import Measurement, NotMeasured, as_files, judge, read
from .provider import MeasurementContext, Preparation, Provider, Words

SANDBOX: Final = "CONF-TPT-01.stdio.no-network"


class Collected(Struct, frozen=True):
    """The results of all providers."""

    evidence: dict[str, Evidence] = {}
    """By demand."""
    files: dict[str, bytes] = {}
    """For the bundle."""


class Collection:
    """The measurements of one certification."""

    def __init__(
        self, profile: Profile, targets: Sequence[Target], options: CertifyOptions, scope: frozenset[str]
    ) -> None:
        self._targets, self._options, self._scope = targets, options, scope
        self._demands = {
            demand.id: demand
            for demand in profile.demands
            if demand.by is MeasuredBy.MEASUREMENT and demand.is_within(scope)
        }
        self._providers: list[Provider] = [
            provider for provider in providers() if not self._demands.keys().isdisjoint(provider.demands)
        ]

    async def prepare(self) -> None:
        """
        Raises:
            LabError: a provider cannot measure as the options demand.
        """
        if self._options.sandbox and SANDBOX in self._demands and not self._has_provider(SANDBOX):
            raise CannotJudge("this version of Assay has no sandbox", "certify without --sandbox")
        preparation = Preparation(self._targets, self._options, self._scope)
        for provider in self._providers:
            await provider.prepare(preparation)

    def _has_provider(self, demand: str) -> bool:
        return any(demand in provider.demands for provider in self._providers)

    def wrap(self, words: Words) -> Words:
        """The command line that is started instead of this one, on stdio."""
        for provider in self._providers:
            words = provider.wrap(words, self._options)
        return words

    def serve_options(self, served: Served) -> Words:
        """Further options of `assay serve` for this target, on HTTP."""
        return tuple(
            word for provider in self._providers for word in provider.serve_options(served, self._options)
        )

    async def measure(
        self,
        run: Run,
        credentials: Credentials,
        commands: Mapping[Transport, Words],
        environment: Mapping[str, str],
        key: SigningKey | None,
    ) -> Collected:
        """
        Raises:
            LabError: the certification must stop.
            BadMeasurement: a provider returned something that cannot be stored.
        """
        collected = Collected()
        with TemporaryDirectory(prefix="assay-measure-") as scratch:
            for number, provider in enumerate(self._providers):
                directory = Path(scratch) / str(number)
                directory.mkdir()
                context = MeasurementContext(
                    self._targets,
                    self._options,
                    self._scope,
                    frozenset(self._demands.keys() & set(provider.demands)),
                    credentials,
                    run,
                    commands,
                    environment,
                    self.wrap,
                    self.serve_options,
                    directory,
                )
                for result in await provider.measure(context):
                    self._add(result, collected, key)
        return collected

    def _add(self, result: Measurement | NotMeasured, collected: Collected, key: SigningKey | None) -> None:
        demand = self._demands.get(result.demand)
        if demand is None:
            return
        if isinstance(result, NotMeasured):
            collected.evidence[demand.id] = not_measured(result.reason)
            return
        files = as_files(result, key)
        collected.files.update(files)
        document = read(next(iter(files.values())), demand.id)
        collected.evidence[demand.id] = judge(demand, document)
