"""CONF-EVD-06.replay: the server says again what was recorded, when it is replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from assay.certify.measurement import Measurement, MeasurementContext, NotMeasured, Provider
from assay.lab.error import CannotJudge, CannotStore, InvalidOptions
from assay.lab.harness.reason import Reason, ReasonKind

DEMAND: Final = "CONF-EVD-06.replay"
NOT_CHOSEN: Final = Reason(ReasonKind.NEEDS_OPTION, "answers are replayed with --replay", ("--replay",))
NOT_REACHED: Final = Reason(
    ReasonKind.NEEDS_OPTION, "a replay needs the server's command or URL", ("--stdio", "-e")
)


class ReplayProvider(Provider):
    demands = (DEMAND,)

    async def measure(self, context: MeasurementContext) -> Sequence[Measurement | NotMeasured]:
        if not context.options.replay:
            return [NotMeasured(DEMAND, NOT_CHOSEN)]
        from assay.certify.replay.certification import measure_replay

        try:
            measurement = await measure_replay(context)
        except (CannotJudge, CannotStore) as error:
            return [NotMeasured(DEMAND, Reason(ReasonKind.BROKE_OFF, error.problem))]
        return [NotMeasured(DEMAND, NOT_REACHED) if measurement is None else measurement]

    def figures(self, demand: str, files: Mapping[str, bytes]) -> dict[str, float] | None:
        from assay.certify.replay.certification import figures_of

        try:
            return figures_of(files)
        except InvalidOptions as error:
            raise ValueError(str(error)) from error


PROVIDER: Final = ReplayProvider()
