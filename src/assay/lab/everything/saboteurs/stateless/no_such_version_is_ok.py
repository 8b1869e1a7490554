"""A version that is not spoken is refused with status 200."""

from __future__ import annotations

from assay.lab.everything.stateless_probe import NO_VERSION
from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response(
    "a version that is not spoken is refused with status 200",
    breaks="sep-2575-http-server-unsupported-version-400",
)
def change(response: Response, context: FaultContext) -> None:
    if context.meta.get(VERSION_KEY) == NO_VERSION:
        response.status = 200
