"""A session that is over."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import behaviour

saboteur = behaviour("a lost session is not begun anew", breaks="HTTP-42", renews_session=False)
