"""What is read says how long it may be kept, and carries the digest of its bytes."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.cap_meta import PROVENANCE, RETENTION, TIERS, is_tier, tag, told
from assay.lab.marketplace.cap_reading import Content, contents
from assay.lab.marketplace.declaring import profile_check

KEPT: Final = "CONF-CAP-03.resources.retention"
HASHED: Final = "CONF-CAP-03.resources.provenance"


@profile_check("What is read is tagged", rows=(KEPT, HASHED))
def judge(trace: Trace) -> Iterator[Observation]:
    for content in contents(trace):
        yield _kept(content)
        yield from _hashed(content)


def _kept(content: Content) -> Observation:
    found = tag(content.fields, RETENTION)
    return observe(
        KEPT,
        is_tier((found or {}).get("tier")),
        content,
        expected=f'_meta["{RETENTION}"] = {{"tier": …}} on each content, one of {", ".join(TIERS)}',
        observed=f"{content.uri}: {told(found, RETENTION)}",
    )


def _hashed(content: Content) -> Iterator[Observation]:
    exact = content.exact
    if exact is None:
        return
    over, data = exact
    right = {"alg": "sha-256", "digest": sha256(data).hexdigest(), "over": over}
    found = tag(content.fields, PROVENANCE)
    yield observe(
        HASHED,
        found is not None and all(found.get(key) == value for key, value in right.items()),
        content,
        expected=f'_meta["{PROVENANCE}"] on each content, with {right}: of the {len(data)} bytes as they are',
        observed=f"{content.uri}: {told(found, PROVENANCE)}",
    )
