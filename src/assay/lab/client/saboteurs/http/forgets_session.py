"""A session that is not named."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour("requests do not name their session", breaks="HTTP-38", sends_session=False)
