"""Resources are listed with what tells them apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaring import official_check
from assay.lab.everything.listed import judge_list, lacking
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.content_block import is_uri

ROW = "resources-list"


@official_check(ROW, "Resources are listed in full", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_list(trace, ROW, "resources", _problem)


def _problem(resource: dict[str, Any]) -> str | None:
    if missing := lacking(resource, "uri", "name"):
        return missing
    return None if is_uri(resource["uri"]) else f"{resource['uri']!r}, which is no URI"
