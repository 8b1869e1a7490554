"""Count the saboteurs that are caught without fixtures and without annotations of tools.

Each saboteur of the protocol suite whose server is the reference server runs once in front of a server that
has the same tools without annotations: no tool has `readOnlyHint`. Those that bring such tools keep them.
Tools that change the server are hidden at first, since many saboteurs share a server; what is missed then is
tried alone, with all tools. Arguments select saboteurs by id, with globs.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Final

import msgspec

from assay.lab.harness.naming import matches
from assay.lab.harness.sabotage.fault import Fault
from assay.lab.harness.sabotage.proof import missed, rates, run_trials, total
from assay.lab.harness.sabotage.saboteur import Double, FaultContext, Json, Saboteur
from assay.lab.harness.sabotage.trial import TrialResult
from assay.lab.suite.tools.unannotated import UNANNOTATED
from assay.lab.suites import protocol_suite


def _bare(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/list" and "result" in reply:
        for tool in reply["result"]["tools"]:
            tool.pop("annotations", None)
    return reply


EVERY_TOOL: Final = Double("every tool", request=lambda message, context: message, reply=_bare)


async def prove(patterns: Sequence[str]) -> list[TrialResult]:
    suite = protocol_suite()
    chosen = [
        saboteur
        for saboteur in suite.saboteurs.values()
        if saboteur.server is None and any(matches(pattern, saboteur.id) for pattern in patterns)
    ]
    results = await run_trials([_with(saboteur, UNANNOTATED) for saboteur in chosen], suite, quick=True)
    caught = [result for result in results if result.caught_by]
    names = {result.trial.saboteur.id for result in caught}
    for saboteur in chosen:
        if saboteur.id not in names:
            caught += await run_trials([_with(saboteur, EVERY_TOOL)], suite, quick=True)
    return caught


def _with(saboteur: Saboteur, double: Double) -> Fault:
    return saboteur if saboteur.double else msgspec.structs.replace(saboteur, double=double)


def main(patterns: Sequence[str]) -> int:
    results = asyncio.run(prove(patterns or ["*"]))
    uncaught = list(missed(results))
    print(*uncaught, *rates(results), total(results), sep="\n")
    return 1 if uncaught else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
