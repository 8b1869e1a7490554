"""Why a scenario may show nothing of a demand though it was played; the traces themselves do not say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from assay.lab.harness.reason import Reason, ReasonKind


def _unobserved(text: str, *options: str) -> Reason:
    return Reason(ReasonKind.NOT_OBSERVED, text, options)


_NO_SUMMARY: Final = _unobserved("no result of a tool told its effects")
_NO_SPAN: Final = _unobserved("no span of a request came")
REASONS: Final[Mapping[str, Reason]] = {
    "CONF-JRPC-03.invalid-arguments": _unobserved(
        "no tool that says it only reads was seen to take arguments"
    ),
    "CONF-CAP-03.tools.digests": _NO_SUMMARY,
    "CONF-CAP-03.tools.ledger": _NO_SUMMARY,
    "CONF-CAP-03.tools.read-only": _unobserved("no tool that says it only reads was called"),
    "CONF-CAP-03.tools.disk": _unobserved(
        "no tool was called while its directory was watched: --observe DIR does that", "--observe"
    ),
    "CONF-CAP-03.manifests.agree": _unobserved("no manifest was published"),
    "CONF-OBS-05.names": _NO_SPAN,
    "CONF-OBS-05.conventions": _NO_SPAN,
    "CONF-OBS-05.parent": _NO_SPAN,
    "CONF-OBS-05.errors": _NO_SPAN,
}
