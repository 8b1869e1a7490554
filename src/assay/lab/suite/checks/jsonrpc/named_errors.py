"""An error leaves out the id only where it could not be read."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.trace.unexplained_error import names_nothing, unexplained_errors
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND

# Codes that nobody can choose without having read the request.
READ = (METHOD_NOT_FOUND, INVALID_PARAMS)


@check("An error names its request", rows=("BASE-09",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    expected = "the id of the request, which was readable"
    for exchange in trace.exchanges():
        if exchange.answer is not None and exchange.answer.shape is Shape.ERROR:
            yield observe("BASE-09", True, exchange, expected=expected, observed=exchange)
    for error in unexplained_errors(trace):
        if names_nothing(error) and _was_read(trace, error):
            yield observe("BASE-09", False, error, expected=expected, observed=f"no id; {error}")


def _was_read(trace: Trace, error: Message) -> bool:
    """HTTP may refuse a request before anyone looks into its body, and say so without an id."""
    return trace.status_of(error) < 400 or error.code in READ
