"""A client that read a skill which is not what its entry says goes no further."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import Judge
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe

from .skill import MANIFEST, SUPPORT, listings, reads


def stops(row: str, flaw: str) -> Judge:
    """A check that the supporting file is not read after a manifest with this flaw."""

    def judge(trace: Trace) -> Iterator[Observation]:
        for listing in listings(trace)[:1]:
            manifests, supports = reads(trace, MANIFEST), reads(trace, SUPPORT)
            if not manifests:
                told = "it was listed and never read"
                yield observe(row, False, listing, expected=f"a read of {MANIFEST}", observed=told)
                continue
            evidence = (manifests[0], *supports[:1])
            expected = f"no use of the skill after {flaw}"
            yield observe(row, not supports, *evidence, expected=expected, observed=f"a read of {SUPPORT}")

    return judge
