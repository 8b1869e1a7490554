"""Certify a server: judge it by a profile, compose the evidence, sign and write it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from assay.certify.bundle.contents import BundleContents, Inputs, compose
from assay.certify.bundle.environment import BadEnvironment
from assay.certify.bundle.node_tree import BadTree
from assay.certify.bundle.run_collector import RunCollector
from assay.certify.bundle.sbom import BadSbom
from assay.certify.measurement.collection import Collected, Collection
from assay.certify.measurement.document import BadMeasurement
from assay.certify.vulnerabilities.osv_export import BadExport
from assay.lab.access import Credentials
from assay.lab.error import CannotJudge, CannotStore, Interrupted, InvalidOptions, LabError
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.run.event import RunEvent, Watch
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import Run, SubjectRecord
from assay.lab.harness.run.runner import Runner, RunSettings, SubjectDown
from assay.lab.harness.transport import Transport
from assay.lab.live import Live
from assay.lab.selection import check_scenarios, revisions_of
from assay.lab.server_run import scenario_limit
from assay.lab.subjects import not_there
from assay.lab.suites import suite_named
from assay.lab.target import Target

from .bundle import directory, layout
from .conclusion import Conclusion
from .extra import require_certify
from .inputs import entry_of, inputs_of, this_moment, with_reported_name
from .options import CertifyOptions
from .profile_events import concerning
from .subjects import (
    ObservedSubject,
    Start,
    Targets,
    as_targets,
    check_otlp,
    commands_of,
    endpoint,
    observed,
)
from .summary_form import Summary

SUITE: Final = "marketplace"
DEFAULTS: Final = CertifyOptions()


class Bundle(Struct, frozen=True):
    """Evidence source a server."""

    summary: Summary
    files: Mapping[str, bytes]
    """By their names in the bundle, without the signatures that are added when it is written."""
    run: Run
    path: Path | None = None
    """Where it was written, if it was."""

    @property
    def conclusion(self) -> Conclusion:
        return self.summary.conclusion

    @property
    def badge(self) -> bytes:
        return self.files[layout.BADGE]


async def certify(targets: Targets, options: CertifyOptions = DEFAULTS) -> Bundle:
    """Judge a server by a profile, and return the evidence. Several targets are ways to reach one server.

    Raises:
        LabError: nothing was certified; the subclass says why.
        MissingExtra: a library is not installed.
    """
    return await follow_certification(targets, options).wait()


def follow_certification(targets: Targets, options: CertifyOptions = DEFAULTS) -> Live[RunEvent, Bundle]:
    """The same, with events to follow.

    Raises:
        InvalidOptions: the options cannot be used. Nothing has been started then.
        MissingExtra: a library is not installed.
    """
    require_certify()
    return Live(Certification(as_targets(targets), options).run)


class Certification:
    def __init__(self, targets: Sequence[Target], options: CertifyOptions) -> None:
        """
        Raises:
            InvalidOptions: the options cannot be used.
        """
        self._targets = targets
        self._options = options
        self._credentials = Credentials(options.access, endpoint(targets))
        check_otlp(options.evidence)
        self._inputs = inputs_of(targets, options)
        scope = frozenset(self._inputs.scope)
        self._measurements = Collection(self._inputs.profile, targets, options, scope)
        self._start = Start(scope, self._measurements.wrap, self._measurements.serve_options)
        self._suite = suite_named(SUITE)
        check_scenarios(options.scenario, self._suite, fixed=True)
        self._selection = Selection(
            scenarios=options.scenario,
            revisions=revisions_of(options.spec_version),
            effects=options.allow_effects,
            destructive=options.allow_effects,
        )

    async def run(self, watch: Watch) -> Bundle:
        await self._credentials.fetch_tokens()
        collector = RunCollector()
        await self._measurements.prepare()
        entry = entry_of(self._inputs)
        arguments = (self._targets, self._credentials, self._options.evidence, entry, self._start)
        end = time.monotonic() + self._options.deadline
        async with observed(*arguments) as subjects:
            for subject in subjects:
                await self._judge(subject, collector, watch, max(end - time.monotonic(), 0.0))
                if collector.run.interrupted or collector.run.expired:
                    break
        if collector.run.interrupted:
            raise Interrupted("interrupted: nothing was written")
        if collector.run.expired:
            problem = f"the deadline passed, {self._options.deadline:g} s: nothing was written"
            raise CannotJudge(problem, "a longer one is set with --deadline; what is slow?")
        inputs = with_reported_name(self._inputs, collector.run)
        measured = await self._measure(collector.run)
        inputs = replace(inputs, created=this_moment())  # evidence is not older than what it proves
        contents = await asyncio.to_thread(_compose, collector, inputs, self._suite, measured)
        if self._options.out is not None:
            await asyncio.to_thread(self._write, self._options.out, contents, inputs)
        return Bundle(contents.summary, contents.files, collector.run, self._options.out)

    async def _measure(self, run: Run) -> Collected:
        try:
            return await self._measurements.measure(
                run, self._credentials, commands_of(self._targets), {}, self._inputs.harness_key
            )
        except BadMeasurement as error:
            raise CannotJudge(str(error)) from error

    async def _judge(
        self, observed: ObservedSubject, collector: RunCollector, watch: Watch, deadline: float
    ) -> None:
        redaction = self._credentials.redaction
        conditions = Conditions(
            patience=self._options.timeout,
            limit=scenario_limit(self._options.timeout),
            redaction=redaction,
            tokens=self._credentials.tokens,
            out_of_band=observed.surroundings,
        )
        jobs = self._options.jobs or os.cpu_count() or 1
        settings = RunSettings(self._suite, self._selection, conditions, jobs, deadline=deadline)
        demands = {demand.id for demand in self._inputs.profile.demands}
        watch = concerning(demands, self._suite, watch)
        try:
            run = await Runner(settings, [observed.subject], watch, collector.keep).run()
        except SubjectDown as down:
            raise not_there(down, observed.target) from down
        collector.add(run, redaction)
        unknown = [record for record in collector.run.subjects if not record.facts]
        if unknown and not (collector.run.interrupted or collector.run.expired):
            raise _speaks_nothing(unknown[0])

    def _write(self, out: Path, contents: BundleContents, inputs: Inputs) -> None:
        source = directory.BundleSource(
            inputs.server,
            inputs.version,
            inputs.artifact,
            inputs.profile.id,
            inputs.profile.data,
            contents.files,
            inputs.created,
            inputs.lifetime,
        )
        try:
            directory.write(out, source, inputs.key, harness=inputs.harness, force=self._options.force)
        except directory.CannotWrite as error:
            raise CannotStore(str(error)) from error


def _speaks_nothing(record: SubjectRecord) -> LabError:
    """Nothing can be certified source a server without a handshake."""
    reasons = "; ".join(dict.fromkeys(refusal.reason for refusal in record.refused))
    at_url = "is that its endpoint, which often ends in /mcp? a protected server needs a token: -t TOKEN"
    fix = "run it by hand to see its output" if record.transport == Transport.STDIO else at_url
    return CannotJudge(f"{record.name} speaks no revision of MCP that was asked for: {reasons}", fix)


def _compose(collector: RunCollector, inputs: Inputs, suite: Suite, measured: Collected) -> BundleContents:
    try:
        return compose(collector.run, collector.files, inputs, suite, measured)
    except (BadEnvironment, BadSbom, BadTree) as error:
        fix = "name the server's interpreter with --python EXE, or its Node packages with --npm DIR"
        raise CannotJudge(str(error), fix) from error
    except BadExport as error:
        raise InvalidOptions(str(error), "give another export with --osv") from error
