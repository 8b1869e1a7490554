"""Why a scenario that ran may show nothing of a demand, where the trace alone does not explain it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from assay.lab.harness.reason import Reason, ReasonKind


def _not_observed(text: str, *options: str) -> Reason:
    return Reason(ReasonKind.NOT_OBSERVED, text, options)


_NO_SUMMARY: Final = _not_observed("no tool result reported its effects")
_NO_SPAN: Final = _not_observed("no request span was exported")
REASONS: Final[Mapping[str, Reason]] = {
    "CONF-JRPC-03.invalid-arguments": _not_observed("no read-only tool takes arguments"),
    "CONF-CAP-03.tools.digests": _NO_SUMMARY,
    "CONF-CAP-03.tools.ledger": _NO_SUMMARY,
    "CONF-CAP-03.tools.read-only": _not_observed("no read-only tool was called"),
    "CONF-CAP-03.tools.disk": _not_observed(
        "no tool was called while its directory was watched; add --observe DIR", "--observe"
    ),
    "CONF-CAP-03.manifests.agree": _not_observed("the server publishes no manifest"),
    "CONF-OBS-05.names": _NO_SPAN,
    "CONF-OBS-05.conventions": _NO_SPAN,
    "CONF-OBS-05.parent": _NO_SPAN,
    "CONF-OBS-05.errors": _NO_SPAN,
}
"""By the id of the demand."""
