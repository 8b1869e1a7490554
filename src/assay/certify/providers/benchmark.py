"""Benchmarks, measured by load tests: `assay certify --bench`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from assay.certify.measurement import Measurement, MeasurementContext, NotMeasured, Provider
from assay.lab.harness.reason import Reason, ReasonKind
from assay.lab.harness.transport import Transport
from assay.lab.target import Command, Served, Target, Url

STDIO: Final = "BENCH-STDIO-02"
UNMEASURED: Final = Reason(ReasonKind.NEEDS_OPTION, "benchmarks are measured with --bench", ("--bench",))
DEFAULT: Final = "quick"


class BenchmarkProvider(Provider):
    demands = ("BENCH-SSE-01", STDIO, "BENCH-SSE-03", "BENCH-POOL-04")

    async def measure(self, context: MeasurementContext) -> Sequence[Measurement | NotMeasured]:
        if context.options.bench is None:
            return [NotMeasured(demand, UNMEASURED) for demand in sorted(context.demands)]
        # One after another: they would disturb each other.
        return [await self._measure(demand, context) for demand in self.demands if demand in context.demands]

    async def _measure(self, demand: str, context: MeasurementContext) -> Measurement | NotMeasured:
        from assay.lab.error import LabError
        from assay.lab.load.benchmark import PLANS, run_benchmark
        from assay.lab.load.options import LoadOptions
        from assay.lab.load.result import dump_result

        target = _target(demand, context)
        if target is None:
            problem = "the server was not reached in a way on which this is measured"
            return NotMeasured(demand, Reason(ReasonKind.NOT_APPLICABLE, problem))
        is_stdio = demand == STDIO
        options = LoadOptions(
            access=LoadOptions().access if is_stdio else context.options.access,
            transport=None if isinstance(target, Command | Url) else "stdio" if is_stdio else "http",
            allow_effects=context.options.allow_effects,
            environment=context.environment if is_stdio else {},
        )
        plan = PLANS.get(context.options.bench or DEFAULT, PLANS[DEFAULT])
        try:
            result = await run_benchmark(demand, target, options, plan)
        except LabError as error:
            return NotMeasured(demand, Reason(ReasonKind.BROKE_OFF, error.problem))
        if result.problem:
            # Without results the server has nothing to measure; with them, they prove nothing.
            kind = ReasonKind.BROKE_OFF if result.results else ReasonKind.NOT_OBSERVED
            return NotMeasured(demand, Reason(kind, result.problem))
        files = {f"{name}.json": dump_result(each) for name, each in result.results.items()}
        return Measurement(demand=demand, figures=result.figures, facts=result.facts, files=files)

    def figures(self, demand: str, files: Mapping[str, bytes]) -> dict[str, float] | None:
        from assay.lab.load.benchmark import figures_of
        from assay.lab.load.result import read_result

        results = {name.removesuffix(".json"): read_result(data) for name, data in files.items()}
        return figures_of(demand, results)


def _target(demand: str, context: MeasurementContext) -> Target | None:
    if demand == STDIO:
        words = context.commands.get(Transport.STDIO)
        return None if words is None else Command(context.wrap(words))
    target = next((each for each in context.targets if isinstance(each, Url | Served)), None)
    if not isinstance(target, Served):
        return target
    options = (*target.options, *context.serve_options(target))
    return target._replace(options=options)


PROVIDER: Final = BenchmarkProvider()
