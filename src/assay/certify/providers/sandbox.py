"""The sandbox: the server runs in it, a canary tries to get out, and tools that only read are observed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

import msgspec

from assay.certify.measurement import Measurement, MeasurementContext, NotMeasured, Preparation, Provider
from assay.certify.options import CertifyOptions
from assay.lab.error import CannotJudge, InvalidOptions
from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.transport import Transport
from assay.lab.target import Served, Url

if TYPE_CHECKING:
    from assay.sandbox import Level, Sandbox
    from assay.sandbox.canary.report import Report

NETWORK: Final = "CONF-TPT-01.stdio.no-network"
HONEST: Final = "CONF-CAP-03.tools.honest"
AREAS: Final = {
    NETWORK: "network",
    "CONF-TPT-01.stdio.no-writes": "writes",
    "CONF-TPT-01.stdio.no-privileges": "privileges",
    "CONF-TPT-01.stdio.limits": "limits",
}
"""The escapes that each demand is about."""
SPANS: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
VARIABLES: Final = (SPANS, "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_TRACES_EXPORTER", "OTEL_BSP_SCHEDULE_DELAY")
"""What certification adds to the environment of a server, so that it sends its spans."""
AUTO: Final = "auto"
CANARY: Final = "canary.json"
ANSWERS: Final = "answers.json"
TOOLS: Final = "tools.json"
MOST_NAMED: Final = 5
NO_OPTION: Final = Reason(
    ReasonKind.NEEDS_OPTION, "the server did not run in a sandbox; add --sandbox", ("--sandbox",)
)
NO_READER: Final = Reason(ReasonKind.NOT_OBSERVED, "the server has no tool with readOnlyHint that was called")
NO_COMMAND: Final = Reason(
    ReasonKind.NEEDS_OPTION, "a sandbox needs the server's command; add --stdio LINE", ("--stdio",)
)


class SandboxProvider(Provider):
    demands: ClassVar[tuple[str, ...]] = (*AREAS, HONEST)

    def __init__(self) -> None:
        self._sandboxes: dict[int, Sandbox] = {}
        """By the identity of the options of a certification that runs."""

    async def prepare(self, preparation: Preparation) -> None:
        options = preparation.options
        if options.sandbox is None or all(isinstance(target, Url) for target in preparation.targets):
            return
        from assay.certify.replay.seed import Seeds
        from assay.sandbox import Limits, Sandbox, SandboxError, SandboxOptions

        further = [
            name
            for target in preparation.targets
            if isinstance(target, Served)
            for name in target.environment
        ]
        values = SandboxOptions(
            level=level_of(options.sandbox),
            env=(*VARIABLES, *Seeds().environment, *further, *options.sandbox_env),
            relay=SPANS,
            read=options.sandbox_read,
            limits=Limits() if options.sandbox_memory is None else Limits(memory=options.sandbox_memory),
        )
        try:
            self._sandboxes[id(options)] = Sandbox(values)
        except SandboxError as error:
            raise CannotJudge(error.problem, error.fix) from error

    def wrap(self, words: tuple[str, ...], options: CertifyOptions) -> tuple[str, ...]:
        sandbox = self._sandboxes.get(id(options))
        if sandbox is None:
            return words
        from assay.sandbox import SandboxError

        try:
            return sandbox.command(words)
        except SandboxError as error:
            raise CannotJudge(error.problem, error.fix) from error

    def serve_options(self, served: Served, options: CertifyOptions) -> tuple[str, ...]:
        """The same sandbox but for spans: a socket that listens may not be able to connect."""
        if id(options) not in self._sandboxes:
            return ()
        words = ["--sandbox", options.sandbox or AUTO]
        for name in (*served.environment, *options.sandbox_env):
            words += ["--sandbox-env", name]
        for path in options.sandbox_read:
            words += ["--sandbox-read", str(path)]
        if options.sandbox_memory is not None:
            words += ["--sandbox-memory", str(options.sandbox_memory)]
        return tuple(words)

    async def measure(self, context: MeasurementContext) -> Sequence[Measurement | NotMeasured]:
        sandbox = self._sandboxes.get(id(context.options))
        words = context.commands.get(Transport.STDIO)
        if sandbox is None or words is None:
            reason = NO_OPTION if words is not None else NO_COMMAND
            return [NotMeasured(demand, reason) for demand in context.demands]
        try:
            return [
                *await self._escapes(context, sandbox, words),
                *await self._honesty(context, sandbox, words),
            ]
        finally:
            self._sandboxes.pop(id(context.options)).close()

    async def _escapes(
        self, context: MeasurementContext, sandbox: Sandbox, words: tuple[str, ...]
    ) -> list[Measurement]:
        from assay.sandbox import SandboxError

        try:
            report = await asyncio.to_thread(sandbox.run_canary, words)
        except SandboxError as error:
            raise CannotJudge(error.problem, error.fix) from error
        facts = {**sandbox.facts(), "canary": report.text}
        answers = msgspec.json.encode({"answers": _answers(context)})
        return [
            measured(demand, report, facts, {ANSWERS: answers} if demand == NETWORK else {})
            for demand in AREAS
            if demand in context.demands
        ]

    async def _honesty(
        self, context: MeasurementContext, sandbox: Sandbox, words: tuple[str, ...]
    ) -> list[Measurement | NotMeasured]:
        if HONEST not in context.demands:
            return []
        from assay.certify.sandbox.honesty import encode, figures_of, observe_tools

        revision = max(_revisions(context))
        command, patience = sandbox.command(words), context.options.timeout
        tools = await observe_tools(command, sandbox.scratch, revision, patience)
        if not tools:
            return [NotMeasured(HONEST, NO_READER)]
        data = encode(tools)
        liars = [
            f"{tool.tool} changed {', '.join(tool.changed[:MOST_NAMED])}" for tool in tools if tool.changed
        ]
        problem = f"tools with readOnlyHint write: {'; '.join(liars[:MOST_NAMED])}"[:1000] if liars else ""
        facts = {"level": sandbox.level}
        return [
            Measurement(
                demand=HONEST, figures=figures_of(data), facts=facts, problem=problem, files={TOOLS: data}
            )
        ]

    def figures(self, demand: str, files: Mapping[str, bytes]) -> dict[str, float] | None:
        if demand == HONEST:
            from assay.certify.sandbox.honesty import figures_of

            return figures_of(files[TOOLS])
        from assay.sandbox.canary.report import parse_report

        answers = msgspec.json.decode(files[ANSWERS], type=dict[str, int]) if ANSWERS in files else {}
        return {**counts(parse_report(files[CANARY]), demand), **answers}


def level_of(text: str) -> Level | None:
    """
    Raises:
        InvalidOptions: it is not a level.
    """
    from assay.sandbox import Level

    if text == AUTO:
        return None
    if text not in ("L1", "L2", "L3"):
        raise InvalidOptions(f"not a level of the sandbox: {text}", "one of L1, L2 and L3, or auto")
    return Level(text)


def measured(
    demand: str, report: Report, facts: Mapping[str, str], further: Mapping[str, bytes]
) -> Measurement:
    from assay.sandbox.canary.escape import Area

    escapes = report.escapes(Area(AREAS[demand]))
    names = "; ".join(f"{item.title}: {item.how}" for item in escapes[:MOST_NAMED])
    figures = counts(report, demand) | {
        name: value for data in further.values() for name, value in msgspec.json.decode(data).items()
    }
    return Measurement(
        demand=demand,
        figures=figures,
        facts=facts,
        problem=f"the canary got out of the sandbox: {names}"[:1000] if escapes else "",
        files={CANARY: report.as_json(), **further},
    )


def counts(report: Report, demand: str) -> dict[str, float]:
    from assay.sandbox.canary.escape import Area

    area = Area(AREAS[demand])
    return {"attempts": len(report.of(area)), "escapes": len(report.escapes(area))}


def _revisions(context: MeasurementContext) -> list[str]:
    return [
        facts.revision
        for record in context.run.subjects
        if record.transport == Transport.STDIO
        for facts in record.facts
    ]


def _answers(context: MeasurementContext) -> int:
    """The revisions in which the server answered, inside the sandbox."""
    return len(_revisions(context))


PROVIDER: Final = SandboxProvider()
