"""A version that no server has is answered with one that the server has: its newest, and no error."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.revisions.registry import BY_DATE, HANDSHAKE

AGE = {revision.date: age for age, revision in enumerate(HANDSHAKE)}


@check("An unknown version is answered with another one", rows=("LIFE-10", "LIFE-11"))
def judge(trace: Trace) -> Iterator[Observation]:
    answered = dict(_answered(trace))
    agreed = {asked for asked, offered in answered.items() if asked == offered and asked in AGE}
    # Versions that we do not know, and that the server offers by itself: they are its own.
    own = {offered for asked, offered in answered.items() if asked != offered}
    for exchange in trace.exchanges("initialize"):
        asked = exchange.params.get("protocolVersion")
        if not isinstance(asked, str) or asked in {*BY_DATE, *own} or exchange.answer is None:
            continue
        offered = (exchange.result or {}).get("protocolVersion")
        # Whoever asks for the version that was offered gets it, if the offer was honest.
        honest = isinstance(offered, str) and offered != asked and answered.get(offered, offered) == offered
        yield observe(
            "LIFE-10",
            honest,
            exchange,
            expected="a result with another version, which the server supports",
            observed=offered or exchange,
        )
        if honest and offered in AGE and agreed:
            newest = max(agreed, key=AGE.__getitem__)
            yield observe(
                "LIFE-11",
                AGE[offered] >= AGE[newest],
                exchange,
                expected=f"the newest version that it agrees on elsewhere, {newest}",
                observed=offered,
            )


def _answered(trace: Trace) -> Iterator[tuple[str, str]]:
    for exchange in trace.exchanges("initialize"):
        pair = exchange.params.get("protocolVersion"), (exchange.result or {}).get("protocolVersion")
        if isinstance(pair[0], str) and isinstance(pair[1], str):
            yield pair[0], pair[1]
