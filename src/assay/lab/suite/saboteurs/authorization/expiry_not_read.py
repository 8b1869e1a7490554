"""A token is good for ever."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, newest_of_each_kind, on_call
from assay.lab.harness.transport import GUARDED
from assay.lab.suite.sabotaging import as_first, is_expired, remember_first


@on_call(
    "an expired token is taken",
    breaks="AU-65",
    server=LOCKED,
    transports=GUARDED,
    scenario="authorization.expired-token",
    window=newest_of_each_kind,
)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if is_expired(request):
        as_first(request, context)
