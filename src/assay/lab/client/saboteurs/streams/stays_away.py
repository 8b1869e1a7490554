"""A client that does not come back."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour(
    "a stream that broke is not gone on with", breaks="HTTP-24", scenario="streams.resumed", resumes=False
)
