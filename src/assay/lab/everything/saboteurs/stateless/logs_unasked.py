"""Log messages come to everybody."""

from __future__ import annotations

from assay.lab.everything.spoiling import names
from assay.lab.everything.stateless_probe import LOGS
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request("log messages come to those who did not ask", breaks="sep-2575-server-no-log-without-loglevel")
def change(message: Json, context: FaultContext) -> Json:
    if names(message, LOGS):
        message["params"]["_meta"].setdefault(LOG_LEVEL_KEY, "debug")
    return message
