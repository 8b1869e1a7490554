"""A client that walks off."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour("a request is given up without a word", breaks="HTTP-19", cancels=False)
