"""A token may say itself that it needs no signature."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, newest_of_each_kind, on_call
from assay.lab.suite.sabotaging import as_first, header, remember_first


@on_call("a token under `alg: none` is taken", breaks="AU-63", server=LOCKED, window=newest_of_each_kind)
def change(request: Request, context: FaultContext) -> None:
    remember_first(request, context)
    if header(request).get("alg") == "none":
        as_first(request, context)
