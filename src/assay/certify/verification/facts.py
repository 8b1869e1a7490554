"""What a summary and its badges say, without their words.

A later version may word a reason, a title or a badge otherwise: an honest bundle of an older one stays good.
Figures, statuses, places, dates and digests are the same in every version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from assay.certify.bundle import layout
from assay.certify.scoring import Score
from assay.certify.summary_form import Summary

Facts = dict[str, object]
BADGE: Final = (
    "server", "version", "generatedAt", "expiresAt", "conclusion", "passed", "scored", "notMeasured",
    "profile", "protocolVersions", "metricsSource", "summarySha256", "attestation", "selfAttested",
)  # fmt: skip


def of_summary(found: Summary) -> Facts:
    """By what is told of them: parts of the document, and demands by their ids."""
    return {
        "server": found.server,
        "profile": found.profile,
        "version of Assay": found.tool,
        "run": found.run,
        "time": (found.generated_at, found.expires_at),
        "signers": found.attested,
        "conclusion": found.conclusion,
        "counts": found.summary,
        "categories": found.categories,
        "latency": found.latency,
        "metrics": found.metrics,
        "replay": found.replay,
        "sandbox": found.sandbox,
        "vulnerabilities": found.vulnerabilities,
        "digests": sorted((one.name, one.sha256) for one in found.evidence),
        "order of demands": [one.id for one in found.checks],
        **{one.id: _of_score(one) for one in found.checks},
    }


def _of_score(found: Score) -> tuple[object, ...]:
    seen = [(one.scenario, one.transport, one.protocol_version, one.status) for one in found.results]
    broken = [(one.scenario, one.transport, one.protocol_version, *one.frames) for one in found.findings]
    return found.status, found.pass_, found.measure, found.scored, found.core, sorted(seen), sorted(broken)


def of_badge(name: str, data: bytes) -> Facts:
    """
    Raises:
        ValueError: these bytes are no badge of that name.
    """
    try:
        document: dict[str, Any] = json.loads(data)
        found = _of_shield(document) if name == layout.SHIELDS else _of_badge(document)
        return {
            fact: json.dumps(told, sort_keys=True) for fact, told in found.items()
        }  # to Python, 1 is true
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no badge: {error!r}") from error


def _of_shield(document: Mapping[str, Any]) -> Facts:
    """A colour, and figures among words."""
    return {"color": document["color"], "figures": re.findall(r"[0-9]+", document["message"])}


def _of_badge(document: Mapping[str, Any]) -> Facts:
    """The states of checks by their names: versions may show other ones."""
    told = {f"checks.{name}": state for name, state in document["checks"].items()}
    figures = {f"latency.{name}": figure for name, figure in document["latency"].items()}
    return {name: document[name] for name in BADGE} | told | figures


def differences(stored: Facts, made: Facts) -> list[str]:
    """Names of what is stored and not made so. Today's version may make more."""
    return sorted(name for name, fact in stored.items() if name not in made or made[name] != fact)
