"""A session that is left behind."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour("a session is not ended", breaks="HTTP-43", ends_session=False)
