"""What topic modules are written with, and below it the harness: traces, links, subjects, runs, sabotage."""

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.sabotage.saboteur import (
    FaultContext,
    Json,
    Request,
    Response,
    drop_from_result,
    error_reply,
    on_batch,
    on_block,
    on_call,
    on_handshake,
    on_line,
    on_reply,
    on_request,
    on_response,
    on_result,
    on_span,
    result_reply,
    scripted,
    set_in_result,
)
from assay.lab.harness.trace.trace import Trace

from .check import check
from .scenario import scenario
from .verdict import Observation, observe

__all__ = [
    "FaultContext",
    "Json",
    "Observation",
    "Request",
    "Response",
    "Stage",
    "Trace",
    "check",
    "drop_from_result",
    "error_reply",
    "observe",
    "on_batch",
    "on_block",
    "on_call",
    "on_handshake",
    "on_line",
    "on_reply",
    "on_request",
    "on_response",
    "on_result",
    "on_span",
    "result_reply",
    "scenario",
    "scripted",
    "set_in_result",
]
