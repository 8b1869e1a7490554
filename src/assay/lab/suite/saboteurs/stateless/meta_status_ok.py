"""Errors are answers, and answers have status 200."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.saboteur import Response, Turn, on_response


@on_response("a request without capabilities is refused with status 200", breaks="META-08")
def change(response: Response, turn: Turn) -> None:
    if CAPABILITIES_KEY not in turn.meta:
        response.status = 200
