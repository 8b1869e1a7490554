"""How a developer fixes an unmet demand, where the finding itself does not say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_TAGS: Final = (
    "tag each content item of resources/read in _meta; an Assay server does this with "
    "`server.use(Profile())` or `assay serve --profile intelgraph`; see docs/profile.md"
)
_EFFECTS: Final = (
    "report in the _meta of each result what the tool changed; an Assay server with a Profile does this with "
    "`ctx.effect(…)`; see docs/profile.md"
)
HINTS: Final[Mapping[str, str]] = {
    "CONF-JRPC-03.batch": (
        "reject every array with -32600; `assay serve --profile intelgraph/2025-10` does this; or declare "
        "batch support in the registry entry and pass it with --registry"
    ),
    "CONF-JRPC-03.batch-by-revision": (
        "reject every array with -32600 at revisions that do not define batches; see docs/profile.md"
    ),
    "CONF-CAP-03.resources.retention": _TAGS,
    "CONF-CAP-03.resources.provenance": _TAGS,
    "CONF-CAP-03.tools.effects": _EFFECTS,
    "CONF-CAP-03.tools.digests": _EFFECTS,
    "CONF-CAP-03.tools.disk": _EFFECTS,
    "CONF-CAP-03.tools.ledger": "record each call: `assay serve --ledger DIR`; see docs/operate.md",
    "CONF-CAP-03.prompts": (
        "give each prompt a version and the digest of its text in _meta, and raise the version when the text "
        "changes; in an Assay server with a Profile, use `@server.prompt(version=…)`; see docs/profile.md"
    ),
    "CONF-CAP-03.manifests": (
        "publish the three manifests at the server's origin, generated from the live lists; "
        "`assay serve --profile intelgraph` does this; see docs/profile.md"
    ),
    "CONF-CAP-03.registry": (
        "generate the entry from the live server: `assay registry build`; see docs/certify.md"
    ),
    "CONF-SEC-04": (
        "reject the request before doing any work; `assay serve --auth` does this; see docs/protect.md"
    ),
    "CONF-OBS-05": (
        "create a SERVER span for each request, with the `traceparent` in its _meta as parent, and export it "
        "by OTLP to OTEL_EXPORTER_OTLP_ENDPOINT; `assay serve --telemetry` does this; see docs/operate.md"
    ),
    "CONF-EVD-06.vulnerabilities": "install the fixed versions that vulnerabilities.json names",
}
"""By the id of a demand, or by a prefix of several ids."""


def fix_hint(demand: str) -> str:
    """The hint for a demand, or an empty string."""
    hints = (hint for prefix, hint in HINTS.items() if demand == prefix or demand.startswith(f"{prefix}."))
    return next(hints, "")
