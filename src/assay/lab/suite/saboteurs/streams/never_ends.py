"""The stream is kept for later use."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Response, on_response


@on_response(
    "the stream stays open after the response",
    breaks="HTTP-17",
    scenario="streams.answer-stream",
    window=lambda revision: revision.http.disconnect_cancels,
    silent=True,
)
def change(response: Response, context: FaultContext) -> None:
    response.lingers = True
