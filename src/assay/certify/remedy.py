"""What a developer can do about a demand that is not met, where the finding does not say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_TAGS: Final = (
    "tag each content of resources/read in _meta: an Assay server does so with `server.use(Profile())` or "
    "`assay serve --profile intelgraph`; see docs/profile.md"
)
_EFFECTS: Final = (
    "tell in the _meta of each result what the tool changed: in an Assay server with a Profile, "
    "`ctx.effect(…)` does so; see docs/profile.md"
)
REMEDIES: Final[Mapping[str, str]] = {
    "CONF-JRPC-03.batch": (
        "refuse every array with -32600: an Assay server does so with `assay serve --profile intelgraph`; or "
        "list batches in the registry entry, and give it with --registry"
    ),
    "CONF-CAP-03.resources.retention": _TAGS,
    "CONF-CAP-03.resources.provenance": _TAGS,
    "CONF-CAP-03.tools.effects": _EFFECTS,
    "CONF-CAP-03.tools.digests": _EFFECTS,
    "CONF-CAP-03.tools.disk": _EFFECTS,
    "CONF-CAP-03.tools.ledger": "write down each call: `assay serve --ledger DIR`; see docs/operate.md",
    "CONF-CAP-03.prompts": (
        "give each prompt a version and the digest of its text in _meta, and raise the version when the text "
        "changes: in an Assay server with a Profile, `@server.prompt(version=…)`; see docs/profile.md"
    ),
    "CONF-CAP-03.manifests": (
        "publish the three manifests at the server's origin, made from the live lists: an Assay server does "
        "so with `assay serve --profile intelgraph`; see docs/profile.md"
    ),
    "CONF-CAP-03.registry": (
        "write the entry from the live server: `assay registry build`; see docs/certify.md"
    ),
    "CONF-SEC-04": "refuse it before anything is done: `assay serve --auth` does; see docs/protect.md",
    "CONF-OBS-05": (
        "make a SERVER span of each request, below the `traceparent` in its _meta, and export it by OTLP to "
        "where OTEL_EXPORTER_OTLP_ENDPOINT says: `assay serve --telemetry` does; see docs/operate.md"
    ),
    "CONF-EVD-06.vulnerabilities": "install versions that are mended: vulnerabilities.json names them",
}
"""By the name of a demand, or how the names of several begin."""


def remedy(demand: str) -> str:
    found = (text for begin, text in REMEDIES.items() if demand == begin or demand.startswith(f"{begin}."))
    return next(found, "")
