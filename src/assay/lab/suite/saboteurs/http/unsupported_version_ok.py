"""A version that is not supported is refused with 200."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.sabotage.saboteur import Response, Turn, on_response
from assay.revisions.registry import BY_DATE


@on_response("an unsupported version gets status 200", breaks="HTTP-51")
def change(response: Response, turn: Turn) -> None:
    if response.status == 400 and turn.meta.get(VERSION_KEY) not in BY_DATE:
        response.status = 200
