"""A token in the address is as good as one in the header."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import LOCKED, FaultContext, Request, newest_of_each_kind, on_call


@on_call("a token in the query is taken", breaks="AU-63", server=LOCKED, window=newest_of_each_kind)
def change(request: Request, context: FaultContext) -> None:
    _, found, token = request.target.partition("access_token=")
    if found:
        request.target = request.target.partition("?")[0]
        request.set("Authorization", f"Bearer {token}")
