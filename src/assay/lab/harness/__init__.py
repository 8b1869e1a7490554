"""What topic modules are written with, and below it the harness: traces, links, subjects, runs, sabotage."""

from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.sabotage.saboteur import (
    ABSENT,
    FaultContext,
    Json,
    Request,
    Response,
    edited_results,
    error_reply,
    on_batch,
    on_block,
    on_body,
    on_call,
    on_handshake,
    on_line,
    on_reply,
    on_request,
    on_response,
    on_result,
    on_span,
    on_termination,
    result_reply,
    scripted,
)
from assay.lab.harness.trace.trace import Trace

from .check import check
from .scenario import scenario
from .verdict import Observation, observe

__all__ = [
    "ABSENT",
    "FaultContext",
    "Json",
    "Observation",
    "Request",
    "Response",
    "Stage",
    "Trace",
    "check",
    "edited_results",
    "error_reply",
    "observe",
    "on_batch",
    "on_block",
    "on_body",
    "on_call",
    "on_handshake",
    "on_line",
    "on_reply",
    "on_request",
    "on_response",
    "on_result",
    "on_span",
    "on_termination",
    "result_reply",
    "scenario",
    "scripted",
]
