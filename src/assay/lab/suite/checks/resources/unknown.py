"""A resource that is not there is an error, with the code of the revision."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.choice import NOWHERE
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INVALID_PARAMS, RESOURCE_NOT_FOUND


@check("A resource that does not exist is refused", rows=("RS-07", "RS-08", "RS-09"))
def judge(trace: Trace) -> Iterator[Observation]:
    if _anything_goes(trace):
        return
    for exchange in trace.exchanges("resources/read"):
        uri = exchange.params.get("uri")
        if not isinstance(uri, str) or not uri.startswith(NOWHERE) or exchange.answer is None:
            continue
        for row, code in (("RS-07", RESOURCE_NOT_FOUND), ("RS-08", INVALID_PARAMS)):
            yield observe(row, exchange.code == code, exchange, expected=f"error {code}", observed=exchange)
        empty = exchange.result is not None and exchange.result.get("contents") == []
        yield observe("RS-09", not empty, exchange, expected="no empty `contents`", observed=exchange)


def _anything_goes(trace: Trace) -> bool:
    """Whether a template takes any URI: then nobody can say that there is nothing."""
    templates = (
        item.get("uriTemplate")
        for page in trace.exchanges("resources/templates/list")
        for item in page.objects("resourceTemplates")
    )
    return any(isinstance(one, str) and NOWHERE.startswith(one.partition("{")[0]) for one in templates)
